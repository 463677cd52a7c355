"""What real predictions calibkit knows: where they come from, and how to tell they are the ones."""

from dataclasses import dataclass
from functools import partial


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of predictions with outcomes.

    Parameters
    ----------
    name, file, title, kind : str
        What `load` calls it, the name of its file, what it is in one phrase, how it is read.
    repository, commit, path, licence, sha256 : str
        Origin: a GitHub repository, a commit, the folder in it, the licence there; checksum.
    """

    name: str
    file: str
    kind: str
    title: str
    repository: str
    commit: str
    path: str
    licence: str
    sha256: str

    @property
    def origin(self) -> str:
        """Repository, commit and path in one line."""
        return f"github.com/{self.repository} @ {self.commit[:10]}: {self.path}{self.file}"

    @property
    def url(self) -> str:
        """Where the file can be downloaded."""
        host = "https://raw.githubusercontent.com"
        return f"{host}/{self.repository}/{self.commit}/{self.path}{self.file}"


_forecasts = partial(
    Entry,
    kind="games",
    repository="fivethirtyeight/checking-our-work-data",
    commit="f6d5b2e1d6da2889345d381c41431f9a4ee208dd",
    path="",
    licence="CC-BY-4.0",
)
_network = partial(
    Entry,
    kind="npz",
    repository="EFS-OpenSource/calibration-framework",
    commit="2a3db8d7cb2a557f3b563c98ce00954f43dfe927",
    licence="Apache-2.0",
)
_imagenet = partial(
    Entry,
    kind="top-1",
    repository="hollance/reliability-diagrams",
    commit="e133f3d3a63356920c7d5cb7b032c3e03b38afb5",
    licence="MIT",
)
_CIFAR10 = "examples/classification/records/cifar10/"
_CIFAR100 = "examples/classification/records/cifar100/"

_ENTRIES: tuple[Entry, ...] = (
    _forecasts(
        name="mlb",
        file="mlb_games.csv",
        title="win forecasts for baseball games (MLB), 2016 to 2022",
        sha256="2e0c471d179bba588e0ebbdee746306bf2384d8b7f1b7f673ede7a72f6cd0437",
    ),
    _forecasts(
        name="nba",
        file="nba_games.csv",
        title="win forecasts for basketball games (NBA), 2016 to 2022",
        sha256="fb99d5a4870ae761684313b36433926f9f53b0e0d272b922c73aa287da20ab20",
    ),
    _forecasts(
        name="nfl",
        file="nfl_games.csv",
        title="win forecasts for American football games (NFL), 2015 to 2021",
        sha256="09290d7dfd41f18f584c007a5749bd788bedee1260de865783c68314ad8ab23d",
    ),
    _forecasts(
        name="world_cup",
        file="world_cup_matches_men.csv",
        kind="matches",
        title="win, tie and loss forecasts for men's World Cup matches, 2014 to 2022",
        sha256="dfeb490133e0dd0707e531a42423f0f7b9a7b0d01d80f089103f631613b1ddd8",
    ),
    _network(
        name="cifar10-wideresnet",
        file="wideresnet-16-4-cifar-10.npz",
        path=_CIFAR10,
        title="a wide residual network on the CIFAR-10 test images",
        sha256="ce2bafe1fa22e8da7b132cb45556b5d154bd50bbec5d91913bba2e04fbd76182",
    ),
    _network(
        name="cifar10-lenet",
        file="lenet-5-cifar-10.npz",
        path=_CIFAR10,
        title="a small LeNet on the CIFAR-10 test images",
        sha256="2fea8ab231920142ebf1fb90ec07677681f0ea64aef1a328e1d45898978e3c90",
    ),
    _network(
        name="cifar100-densenet",
        file="densenet-bc-100-cifar-100.npz",
        path=_CIFAR100,
        title="a DenseNet on the CIFAR-100 test images",
        sha256="6b8c33de93bdf1ae7de335f485c73c9f7198b359f85de6b1f21066a7e7c6379e",
    ),
    Entry(
        name="cifar10-vgg16",
        file="cifar_probs.dat",
        kind="pickle",
        path="data/",
        title="a VGG16 network on the CIFAR-10 test images",
        repository="p-lambda/verified_calibration",
        commit="ee81c346895e3377653bd347c429a95bd631058d",
        licence="MIT",
        sha256="fe3cdd9e8d77336aa60916949ec126ef0c17a828d95c1999a88a59bc56a550bf",
    ),
    _imagenet(
        name="imagenet-resnext101",
        file="resnext101_32x8d.csv",
        path="results/ImageNet_torchvision/",
        title="top-1 confidence of a ResNeXt-101 on the ImageNet validation images",
        sha256="fb3c23fc7e9b9765df2f14a062f7615186962309e3b583e49b94fb5470d6c267",
    ),
    _imagenet(
        name="imagenet-efficientnet",
        file="efficientnet_b3a.csv",
        path="results/ImageNet_pytorch-image-models/",
        title="top-1 confidence of an EfficientNet-B3a on the ImageNet validation images",
        sha256="c8402811815716aef8e8312f4e1a9f71516c8f99d9102374d3da6a5cd1704ef9",
    ),
)

# More of the last origin, for studies: name, file, folder under "results", which network, checksum.
_MORE = """
cifar10-densenet40   probs_densenet40_c10_logits.csv  markus93 DenseNet40
    b1238523e4e90c5833d5b102163dcab8d89e916a31549f21f0c0b40d0091ddcf
cifar100-densenet40  probs_densenet40_c100_logits.csv markus93 DenseNet40
    f69725d540e02263af54b77ed297190f341edd86214ab0424a9634337f7b8b15
cifar10-resnet110    probs_resnet110_c10_logits.csv   markus93 ResNet110
    49d17c420a3aac8144a09e3ae08bf2e5fa9b26dc7e0f7fc2113a1dee2f52687c
cifar100-resnet110   probs_resnet110_c100_logits.csv  markus93 ResNet110
    33f1156e28434f051a7cc82c948423878810751893f5216397865a3a861d0bc4
birds-resnet50       probs_resnet50_birds_logits.csv  markus93 ResNet50
    954c753ac0b8453616aecd4ca695ff4aedf7f7e86a5e3aade83577dae9c51742
imagenet-resnet101   resnet101.csv             ImageNet_torchvision ResNet-101
    58e3b67f277eec8c6b5b60a1d1ece80da09fcc5d216bc0248a0105b9db58d3cd
imagenet-mobilenet   mobilenetv3_large_100.csv ImageNet_pytorch-image-models MobileNetV3
    a4e07d5a8c4c4bbdcc206b369130227820db435f9233e8579a0386bee2051695
imagenet-resnet34    resnet34.csv              ImageNet_pytorch-image-models ResNet-34
    b123aebe9a94f4fe33958fa74b6411a1809f3b7f517189c8be2252befd3e91ae
imagenet-efficientnet-b1 efficientnet_b1.csv   ImageNet_pytorch-image-models EfficientNet-B1
    3f0c1adcba3ce3a4603de7c4fb371cfbc38a93866424bdab5e1f149c9dd6cafc
imagenet-inception   tf_inception_v3.csv       ImageNet_pytorch-image-models Inception-v3
    3d2e1c797eab523d2b262fac914c95ab50ae72e162859ddb9dd4b2af36d3d940
"""
_IMAGES = {
    "cifar10": "CIFAR-10 test",
    "cifar100": "CIFAR-100 test",
    "birds": "CUB birds test",
    "imagenet": "ImageNet validation",
}
_words = iter(_MORE.split())
_ENTRIES += tuple(
    _imagenet(
        name=name,
        file=file,
        path=f"results/{folder}/",
        title=f"top-1 confidence of a {network} on the {_IMAGES[name.split('-')[0]]} images",
        sha256=digest,
    )
    for name, file, folder, network, digest in zip(*[_words] * 5, strict=True)
)

REGISTRY: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
