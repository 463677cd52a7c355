"""Lesson 05: discover that ECE is a fit."""

from calibkit.lessons.lesson05.explorer import TwoFamilies, two_families, two_families_view

__all__ = ["TwoFamilies", "two_families", "two_families_view"]
