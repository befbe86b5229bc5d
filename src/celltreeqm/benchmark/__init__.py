"""The benchmark: problems, methods, and a runner that never repeats finished work."""

from . import _method_direct as _method_direct
from . import _method_learners as _method_learners
from . import _task_data as _task_data
from . import _task_simulations as _task_simulations
from ._format_table import format_table as format_table
from ._jobs import parse_shard as parse_shard
from ._methods import Method as Method
from ._methods import Outcome as Outcome
from ._methods import method_by_name as method_by_name
from ._methods import method_names as method_names
from ._methods import register_method as register_method
from ._paper import paper_number as paper_number
from ._paper import paper_numbers as paper_numbers
from ._problems import Problem as Problem
from ._resources import Resources as Resources
from ._resources import measured as measured
from ._results import load_results as load_results
from ._runner import RunReport as RunReport
from ._runner import run_benchmark as run_benchmark
from ._tables import Summary as Summary
from ._tables import summarize_results as summarize_results
from ._tasks import DataMissing as DataMissing
from ._tasks import Task as Task
from ._tasks import register_task as register_task
from ._tasks import task_by_name as task_by_name
from ._tasks import task_names as task_names
