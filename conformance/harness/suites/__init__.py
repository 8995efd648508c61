"""The suites, by name."""

from .clblast import CLBlast
from .clfft import ClFFT
from .clinfo import Clinfo
from .clpeak import Clpeak
from .cts import CTS
from .hashcat import Hashcat
from .piglit import Piglit
from .pyopencl import PyOpenCL

SUITES = {suite.name: suite for suite in (CLBlast, ClFFT, Clinfo, Clpeak, CTS, Hashcat, Piglit, PyOpenCL)}
