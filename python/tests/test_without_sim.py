"""tandem.sim in a build without gfxsim, which is the usual one."""

import pytest
import tandem
from tandem import sim

pytestmark = pytest.mark.skipif(sim.available(), reason="this build has gfxsim")


def test_the_option_is_named():
    for call in lambda: sim.run("kernel.hsaco", grid=1, block=64), lambda: sim.kernels(b""):
        with pytest.raises(tandem.UnsupportedError, match="this build has no gfxsim: install with pip install . -Csetup-args=-Dsim=enabled"):
            call()
