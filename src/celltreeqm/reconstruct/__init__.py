"""The whole run on plain values, and what it says of itself."""

from ._prior_check import PriorCheck as PriorCheck
from ._prior_check import check_prior as check_prior
