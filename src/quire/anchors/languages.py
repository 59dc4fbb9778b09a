"""Map file names to languages, and each grammar to the node types that define symbols."""

import msgspec

from quire.model.text import words


class Grammar(msgspec.Struct, frozen=True):
    """How symbols are read from the trees of one grammar.

    `defines` maps a node's type to how its name is found: the field that holds the name, or a word for a way that
    `grammar_names` knows. Those in `variables` count only outside of functions, which `bodies` tells. The nodes in
    `wrappers` belong to the definition right inside them, those in `leads` to the one that follows. Files over `limit`
    are not parsed: what is not code takes some grammars very long.
    """

    package: str
    family: str
    defines: dict[str, str]
    entry: str = "language"
    variables: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    leads: frozenset[str] = frozenset()
    limit: int = 1_000_000


def _by_field(field: str, types: str) -> dict[str, str]:
    return dict.fromkeys(types.split(), field)


PYTHON = frozenset({"py", "pyi", "pyw"})

_SCRIPT_DEFINES = {
    **_by_field("name", "function_declaration generator_function_declaration class_declaration method_definition"),
    "field_definition": "property",
    "variable_declarator": "pattern",
    "assignment_expression": "member",
}
_TYPED_DEFINES = {
    **_SCRIPT_DEFINES,
    **_by_field(
        "name",
        "abstract_class_declaration interface_declaration type_alias_declaration enum_declaration enum_assignment "
        "internal_module module function_signature method_signature abstract_method_signature property_signature "
        "public_field_definition",
    ),
}
_SCRIPT_BODIES = words(
    "arrow_function class_static_block function_declaration function_expression generator_function "
    "generator_function_declaration method_definition"
)
_SCRIPT_WRAPPERS = words(
    "ambient_declaration export_statement expression_statement lexical_declaration variable_declaration"
)
_SCRIPT_VARIABLES = frozenset({"variable_declarator", "property_signature"})

_JAVASCRIPT = Grammar(
    package="tree-sitter-javascript",
    family="script",
    defines=_SCRIPT_DEFINES,
    variables=_SCRIPT_VARIABLES,
    bodies=_SCRIPT_BODIES,
    wrappers=_SCRIPT_WRAPPERS,
)
_TYPESCRIPT = Grammar(
    package="tree-sitter-typescript",
    entry="language_typescript",
    family="script",
    defines=_TYPED_DEFINES,
    variables=_SCRIPT_VARIABLES,
    bodies=_SCRIPT_BODIES,
    wrappers=_SCRIPT_WRAPPERS,
    leads=frozenset({"decorator"}),
)
_TSX = msgspec.structs.replace(_TYPESCRIPT, entry="language_tsx")
_GO = Grammar(
    package="tree-sitter-go",
    family="go",
    defines={
        **_by_field("name", "function_declaration type_spec type_alias method_elem method_spec"),
        **_by_field("names", "const_spec var_spec field_declaration"),
        "method_declaration": "receiver",
    },
    variables=frozenset({"const_spec", "var_spec", "field_declaration"}),
    bodies=frozenset({"block", "func_literal"}),
)
_RUST = Grammar(
    package="tree-sitter-rust",
    family="rust",
    defines={
        **_by_field(
            "name",
            "function_item function_signature_item struct_item enum_item union_item trait_item mod_item const_item "
            "static_item type_item associated_type macro_definition enum_variant field_declaration",
        ),
        "impl_item": "type",
    },
    variables=frozenset({"const_item", "static_item"}),
    bodies=frozenset({"block", "closure_expression"}),
    leads=frozenset({"attribute_item"}),
)
_JAVA = Grammar(
    package="tree-sitter-java",
    family="java",
    defines=_by_field(
        "name",
        "class_declaration interface_declaration record_declaration enum_declaration annotation_type_declaration "
        "method_declaration constructor_declaration compact_constructor_declaration enum_constant variable_declarator "
        "annotation_type_element_declaration",
    ),
    variables=frozenset({"variable_declarator"}),
    bodies=frozenset({"block", "constructor_body", "lambda_expression"}),
    wrappers=frozenset({"constant_declaration", "field_declaration"}),
)
_C_SHARP = Grammar(
    package="tree-sitter-c-sharp",
    family="c-sharp",
    defines=_by_field(
        "name",
        "class_declaration struct_declaration interface_declaration record_declaration enum_declaration "
        "method_declaration constructor_declaration destructor_declaration property_declaration event_declaration "
        "delegate_declaration local_function_statement enum_member_declaration variable_declarator",
    ),
    variables=frozenset({"variable_declarator"}),
    bodies=words("accessor_list anonymous_method_expression arrow_expression_clause block lambda_expression"),
    wrappers=frozenset({"event_field_declaration", "field_declaration", "variable_declaration"}),
)
_C_DEFINES = {
    **_by_field("declarator", "function_definition declaration field_declaration type_definition"),
    **_by_field("bodied", "struct_specifier union_specifier enum_specifier"),
    **_by_field("name", "preproc_def preproc_function_def enumerator"),
}
_C = Grammar(
    package="tree-sitter-c",
    family="c",
    defines=_C_DEFINES,
    variables=frozenset({"declaration"}),
    bodies=frozenset({"compound_statement"}),
)
_CPP = Grammar(
    package="tree-sitter-cpp",
    family="c",
    defines={
        **_C_DEFINES,
        "class_specifier": "bodied",
        **_by_field("name", "namespace_definition alias_declaration concept_definition namespace_alias_definition"),
    },
    variables=frozenset({"declaration", "alias_declaration", "namespace_alias_definition"}),
    bodies=frozenset({"compound_statement", "lambda_expression"}),
    wrappers=frozenset({"template_declaration"}),
)
_RUBY = Grammar(
    package="tree-sitter-ruby",
    family="ruby",
    defines={**_by_field("name", "module class method singleton_method"), "assignment": "constant"},
    variables=frozenset({"assignment"}),
    bodies=frozenset({"method", "singleton_method"}),
    wrappers=frozenset({"argument_list", "call"}),
)
_PHP = Grammar(
    package="tree-sitter-php",
    entry="language_php",
    family="php",
    defines={
        **_by_field(
            "name",
            "function_definition class_declaration interface_declaration trait_declaration enum_declaration "
            "method_declaration property_element enum_case",
        ),
        "const_element": "first",
    },
    wrappers=frozenset({"const_declaration", "property_declaration"}),
)

GRAMMARS: dict[str, Grammar] = {
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), _JAVASCRIPT),
    **dict.fromkeys(("ts", "mts", "cts"), _TYPESCRIPT),
    "tsx": _TSX,
    "go": _GO,
    "rs": _RUST,
    "java": _JAVA,
    **dict.fromkeys(("c", "h"), _C),
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh", "hxx"), _CPP),
    "cs": _C_SHARP,
    "rb": _RUBY,
    "php": _PHP,
}
