"""All passes, in the order in which they plan a file."""

from __future__ import annotations

from paddletorch.plan.model.changes import Later, Pass
from paddletorch.plan.model.conditions import (
    converts,
    derives,
    either,
    hands_on,
    has_called_layers,
    holds,
    is_whole_run,
    keeps_calls,
    leaves,
    makes,
    to,
    uses,
)

PASSES = (
    # these three before the edits of operands, around which their casts go
    Pass(
        "integer gradients",
        Later("passes.tensors.integer_gradients:plan_integer_gradients"),
        codes=("DTY101",),
        when=(to("paddle"),),
    ),
    Pass(
        "type promotion",
        Later("passes.tensors.promotion:plan_promotion"),
        codes=("DTY101", "DTY201", "DTY202", "DTY203", "DTY205"),
        when=(to("paddle"),),
    ),
    Pass(
        "differences of truth values",
        Later("passes.tensors.truth_differences:plan_truth_differences"),
        codes=("DTY101", "DTY204"),
        when=(to("torch"),),
    ),
    Pass("sites", Later("uses.planned_sites:plan_sites")),
    Pass("layers with the source's calls", Later("uses.source_calls:plan_source_calls"), when=(keeps_calls,)),
    Pass("packed sequences", Later("passes.tensors.packed_sequences:plan_packed_sequences"), when=(to("paddle"),)),
    Pass(
        "layers whose initializers stay",
        Later("uses.initialized_layers:plan_initialized_layers"),
        leaves_uses=True,
        when=(to("torch"), leaves, makes("initializer")),
    ),
    Pass("constants of calls that stay", Later("uses.constants:plan_constants"), leaves_uses=True, when=(leaves,)),
    Pass(
        "memory formats of calls that stay",
        Later("uses.constants:plan_memory_formats"),
        leaves_uses=True,
        when=(to("paddle"), uses("memory-formats")),
    ),
    Pass("compiling decorators", Later("uses.decorators:plan_compiling_decorators"), leaves_uses=True, when=(leaves,)),
    Pass("base classes", Later("uses.subclasses:plan_subclasses"), leaves_uses=True, when=(derives,)),
    Pass("autograd functions", Later("passes.tensors.functions:plan_functions"), leaves_uses=True, when=(derives,)),
    Pass(
        "data loaders",
        Later("passes.training.loaders:plan_loaders"),
        leaves_uses=True,
        when=(to("paddle"), holds(b"ampler"), makes("distributed_sampler", "loader")),
    ),
    Pass(
        "high-level models",
        Later("passes.training.high_level_models:plan_high_level_models"),
        leaves_uses=True,
        when=(to("torch"), uses("Model")),
    ),
    Pass(
        "loaders on the default device",
        Later("passes.training.device_loaders:plan_device_loaders"),
        leaves_uses=True,
        when=(to("torch"), holds(b"set_device", b"init_parallel_env", b"fleet")),
    ),
    # those that the next passes would leave
    Pass(
        "schedulers and clips made apart",
        Later("passes.training.made_apart:plan_made_apart"),
        leaves_uses=True,
        when=(to("torch"),),
    ),
    Pass(
        "schedulers",
        Later("passes.training.schedulers:plan_schedulers"),
        leaves_uses=True,
        when=(makes("scheduler", "optimizer"),),
    ),
    Pass(
        "optimizers",
        Later("passes.training.optimizers:plan_optimizers"),
        leaves_uses=True,
        when=(makes("optimizer", "scheduler", "lbfgs"),),
    ),
    # only of optimizers that convert
    Pass(
        "clipping",
        Later("passes.training.clipping:plan_clipping"),
        leaves_uses=True,
        when=(either(makes("optimizer"), uses("nn.ClipGradByGlobalNorm", "nn.ClipGradByNorm", "nn.ClipGradByValue")),),
    ),
    # the last pass that revises uses
    Pass("names", Later("names.decide:plan_names"), leaves_uses=True),
    # only of optimizers that convert
    Pass(
        "rates in momentum",
        Later("passes.training.rates_in_momentum:plan_rates_in_momentum"),
        codes=("OPT206",),
        when=(uses("optim.RMSprop"),),
    ),
    Pass("calls of partial objects", Later("uses.partials:plan_partials"), when=(holds(b"partial"), hands_on)),
    Pass(
        "loaders that are asked after their end",
        Later("passes.training.exhausted_loaders:plan_exhausted_loaders"),
        codes=("DAT101",),
        when=(to("paddle"), holds(b"next(")),
    ),
    Pass("probes", Later("uses.probes:plan_probes"), when=(holds(b"hasattr", b"getattr", b"dir"),)),
    # rewrites statements before their members are planned
    Pass(
        "learning rates", Later("passes.training.rates:plan_rates"), when=(either(to("torch"), holds(b"param_groups")),)
    ),
    # renames members before they are planned
    Pass(
        "wrapped models",
        Later("passes.strings.wrapped_models:plan_wrapped_models"),
        codes=("NNM102",),
    ),
    # rewrites statements before their members are planned
    Pass(
        "tied weights",
        Later("passes.tensors.tied_weights:plan_tied_weights"),
        when=(to("paddle"), holds(b"weight")),
    ),
    Pass(
        "found weights",
        Later("passes.tensors.found_weights:plan_found_weights"),
        codes=("NNL101", "NNL209"),
        when=(holds(b"weight", b"parameters", b"state_dict"),),
    ),
    Pass(
        "set arrays",
        Later("passes.tensors.set_arrays:plan_set_arrays"),
        codes=("NNL209",),
        when=(to("torch"), holds(b"set_value"), holds(b"numpy")),
    ),
    # rewrites members before they are planned
    Pass(
        "running statistics",
        Later("passes.tensors.statistics:plan_statistics"),
        codes=("NNM101", "NNM205"),
        when=(to("paddle"),),
    ),
    Pass(
        "keys of statistics",
        Later("passes.tensors.statistics:plan_keys_of_statistics"),
        codes=("NNM101", "NNM205"),
        when=(to("torch"), holds(b"_mean", b"_variance")),
    ),
    # as the one before
    Pass(
        "walked parameters",
        Later("passes.tensors.walked_parameters:plan_walked_parameters"),
        codes=("NNM101", "NNM205"),
        when=(to("paddle"), holds(b"parameters")),
    ),
    # as the one before
    Pass(
        "parameters with statistics",
        Later("passes.tensors.parameters_with_statistics:plan_parameters_with_statistics"),
        when=(to("torch"),),
    ),
    Pass(
        "walked states",
        Later("passes.tensors.walked_states:plan_walked_states"),
        when=(to("torch"), holds(b"state_dict")),
    ),
    Pass(
        "blocks of parameters",
        Later("passes.tensors.blocks_of_parameters:plan_blocks_of_parameters"),
        when=(to("torch"),),
    ),
    # rewrites statements before their members are planned
    Pass(
        "saved values",
        Later("passes.tensors.saved_values:plan_saved_values"),
        when=(to("torch"), derives),
    ),
    # rewrite calls before their members are planned
    Pass(
        "states of unseen objects",
        Later("passes.training.states_of_unseen_objects:plan_states_of_unseen_objects"),
        when=(to("torch"),),
    ),
    Pass(
        "written parts",
        Later("passes.tensors.written_parts:plan_written_parts"),
        codes=("TEN106", "AGD203"),
        when=(to("paddle"),),
    ),
    Pass(
        "reset methods",
        Later("passes.training.reset_methods:plan_reset_methods"),
        when=(to("paddle"), holds(b"reset_parameters")),
    ),
    Pass("members", Later("uses.members:plan_members")),
    Pass("calls of layers", Later("uses.layer_calls:plan_layer_calls"), when=(has_called_layers,)),
    Pass(
        "unguarded wrappers",
        Later("passes.training.unguarded_wrappers:plan_unguarded_wrappers"),
        when=(to("torch"), converts),
    ),
    Pass(
        "kept gradients",
        Later("passes.training.kept_gradients:plan_kept_gradients"),
        when=(to("paddle"), holds(b"grad")),
    ),
    Pass(
        "in-place layers",
        Later("passes.tensors.inplace_layers:plan_inplace_layers"),
        codes=("NNL101", "NNL211"),
        when=(to("paddle"),),
    ),
    Pass(
        "in-place operators",
        Later("passes.tensors.inplace_operators:plan_inplace_operators"),
        codes=("TEN106", "TEN214"),
        when=(to("paddle"),),
    ),
    Pass(
        "written arrays",
        Later("passes.tensors.written_arrays:plan_written_arrays"),
        codes=("TEN214",),
        when=(to("paddle"), holds(b".numpy(")),
    ),
    # of quotients that no pass before it has rewritten
    Pass(
        "kept results",
        Later("passes.tensors.kept_results:plan_kept_results"),
        codes=("TEN106",),
        when=(to("paddle"),),
    ),
    Pass(
        "compared sizes",
        Later("passes.tensors.compared_sizes:plan_compared_sizes"),
        codes=("TEN106",),
        when=(to("torch"),),
    ),
    Pass(
        "arrays of tensors",
        Later("passes.tensors.arrays_of_tensors:plan_arrays_of_tensors"),
        codes=("TEN106",),
        when=(to("torch"),),
    ),
    # of statements that the pass before has not rewritten
    Pass(
        "bitwise operators",
        Later("passes.tensors.bitwise_operators:plan_bitwise_operators"),
        codes=("TEN102",),
        when=(to("paddle"),),
    ),
    # of statements that no pass before it has rewritten
    Pass(
        "augmented assignments",
        Later("passes.tensors.augmented_assignments:plan_augmented_assignments"),
        codes=("TEN106",),
        when=(to("torch"),),
    ),
    Pass("inherited constructors", Later("uses.inherited:plan_inherited")),
    Pass(
        "dtypes by name",
        Later("passes.strings.dtypes_by_name:plan_dtypes_by_name"),
        codes=("DTY101",),
        when=(holds(b"rpartition"),),
    ),
    Pass("evaluated text", Later("passes.strings.evaluated_text:plan_evaluated_text"), when=(holds(b"eval"), converts)),
    # of calls that no pass before it has converted
    Pass(
        "calls of unknown layers",
        Later("uses.runtime_calls:plan_unknown_calls"),
        codes=("API226", "API227"),
    ),
    Pass(
        "functions that join batches",
        Later("passes.training.collate_functions:plan_collate_functions"),
        when=(to("torch"), uses("DataLoader")),
    ),
    Pass(
        "devices as contexts",
        Later("passes.training.device_contexts:plan_device_contexts"),
        codes=("DEV101",),
        when=(to("paddle"), holds(b"device")),
    ),
    Pass("adapters of layers", Later("uses.adapters:plan_adapters")),
    Pass("modules as annotations", Later("uses.module_annotations:plan_module_annotations"), when=(converts,)),
    # needs every module that is named in new text
    Pass("imports", Later("names.imports:plan_imports")),
    Pass(
        "autocast objects",
        Later("passes.training.autocast_objects:plan_autocast_objects"),
        when=(to("paddle"), makes("autocast")),
    ),
    Pass("subscripts", Later("passes.tensors.subscripts:plan_subscripts"), codes=("TEN105", "TEN212")),
    Pass("new axes", Later("passes.tensors.new_axes:plan_new_axes"), codes=("TEN105", "TEN213"), when=(to("paddle"),)),
    Pass(
        "indexed views",
        Later("passes.tensors.indexed_views:plan_indexed_views"),
        codes=("TEN105", "TEN215"),
        when=(to("paddle"),),
    ),
    Pass(
        "train methods",
        Later("passes.training.train_methods:plan_train_methods"),
        codes=("NNM101",),
        when=(to("torch"), converts),
    ),
    Pass("launcher", Later("passes.strings.launcher:plan_launcher"), codes=("DST101", "DST201")),
    Pass("attribute names", Later("passes.strings.attribute_names:plan_attribute_names"), when=(holds(b"setattr"),)),
    Pass(
        "names of classes",
        Later("passes.strings.class_names:plan_class_names"),
        when=(holds(b"__name__", b"__class__", b"type("),),
    ),
    Pass(
        "replaced layers",
        Later("passes.tensors.replaced_layers:plan_replaced_layers"),
        codes=("NNL101",),
    ),
    Pass("imported text", Later("passes.strings.imported_text:plan_imported_text")),
    # after all edits of strings
    Pass("names in strings", Later("passes.strings.names_in_strings:plan_names_in_strings")),
    Pass(
        "attributes by name",
        Later("passes.strings.names_in_strings:plan_attributes_by_name"),
        codes=("API205",),
        when=(holds(b"hasattr", b"getattr", b"setattr", b"delattr"),),
    ),
    Pass("names in probes", Later("passes.strings.names_in_strings:plan_names_in_probes"), codes=("API205",)),
    Pass("hazards", Later("passes.training.hazards:plan_hazards")),
    Pass(
        "states of other optimizers",
        Later("passes.training.optimizer_states:plan_optimizer_states"),
        codes=("OPT204", "OPT207"),
        when=(to("paddle"), holds(b"load_state_dict")),
    ),
    Pass(
        "keys of states",
        Later("passes.training.state_keys:plan_state_keys"),
        codes=("AMP251", "LRS202", "OPT204"),
        when=(holds(b"state_dict"),),
    ),
    Pass(
        "second derivatives",
        Later("passes.training.second_derivatives:plan_second_derivatives"),
        codes=("AGD203",),
        when=(to("paddle"), holds(b"create_graph")),
    ),
    Pass(
        "attributes of layers",
        Later("passes.tensors.layer_attributes:plan_layer_attributes"),
        codes=("NNM101", "NNM206"),
        when=(to("paddle"), derives),
    ),
    Pass(
        "rates of groups",
        Later("passes.training.rates_of_groups:plan_rates_of_groups"),
        codes=("LRS202",),
        when=(to("paddle"), holds(b"get_last_lr")),
    ),
    Pass(
        "frozen norms",
        Later("passes.training.frozen_norms:plan_frozen_norms"),
        codes=("AGD203",),
        when=(
            to("paddle"),
            holds(b"requires_grad"),
            holds(b"LayerNorm", b"layer_norm", b"Transformer"),
        ),
    ),
    Pass(
        "half frozen norms",
        Later("passes.training.half_frozen_norms:plan_half_frozen_norms"),
        codes=("AGD203",),
        when=(to("paddle"), holds(b"requires_grad"), holds(b"BatchNorm", b"InstanceNorm")),
    ),
    Pass(
        "gradients of recurrent layers",
        Later("passes.training.recurrent_gradients:plan_recurrent_gradients"),
        codes=("AGD203",),
        when=(
            to("paddle"),
            holds(b"RNN", b"LSTM", b"GRU"),
            holds(b"requires_grad", b"eval"),
        ),
    ),
    Pass(
        "unset device",
        Later("passes.training.unset_device:plan_unset_device"),
        codes=("DEV206",),
        when=(to("torch"), holds(b"__main__"), makes("optimizer")),
    ),
    Pass("checkpoints", Later("passes.training.checkpoints:plan_checkpoints"), when=(uses("load"),)),
    Pass("packages", Later("passes.packages:plan_packages"), codes=("API244", "API245")),
    Pass("unknown names", Later("uses.count:plan_unknown_names"), when=(is_whole_run,)),
    Pass("unknown members", Later("uses.unknown_members:plan_unknown_members"), when=(is_whole_run,)),
    # after all that edits or reports an import
    Pass("left imports", Later("names.left_imports:plan_left_imports"), when=(is_whole_run,)),
    # after all that removes statements
    Pass("emptied blocks", Later("syntax.emptied_blocks:plan_emptied_blocks")),
    # last: saves the comments that edits would delete
    Pass("comments", Later("syntax.comments:plan_comments")),
)
