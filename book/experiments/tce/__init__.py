"""The simulated and real tables of the test-based calibration error, beside the printed ones."""
