import ts from 'typescript';

/** A name in another module; `*` means all exports. */
export interface ImportedName {
  readonly from: string;
  readonly name: string;
}

/** What the code of one top-level declaration, or of the module's own statements, mentions. */
export interface Mentions {
  /** Top-level declarations of the same module. */
  readonly local: ReadonlySet<string>;
  readonly imported: readonly ImportedName[];
}

/** The parts of a module that matter for reachability. */
export interface ModuleCode {
  /** By name; types are left out. */
  readonly declarations: ReadonlyMap<string, Mentions>;
  /** The code that runs when the module is loaded, in addition to the values of its constants. */
  readonly statements: Mentions;
  /** Every module that it loads, as written. */
  readonly loads: readonly string[];
}

/** Reads the code of a module by its syntax alone. A name shadowed by a local variable still counts as mentioned. */
export function readModule(file: string, text: string): ModuleCode {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const bindings = importBindings(source);
  const named = source.statements.flatMap(declarationsOf);
  const local = new Set(named.map(([name]) => name));
  const mentions = (nodes: readonly ts.Node[]): Mentions => mentionsIn(nodes, { local, bindings });
  return {
    declarations: new Map(named.map(([name, node]) => [name, mentions([node])])),
    statements: mentions(source.statements.filter(isRunAtOnce)),
    loads: [...new Set([...bindings.values()].map(({ from }) => from))],
  };
}

interface Scope {
  readonly local: ReadonlySet<string>;
  readonly bindings: ReadonlyMap<string, ImportedName>;
}

/** The names imported as values. */
function importBindings(source: ts.SourceFile): ReadonlyMap<string, ImportedName> {
  const imports = source.statements.filter(ts.isImportDeclaration);
  return new Map(imports.flatMap(bindingsOf));
}

function bindingsOf({ importClause, moduleSpecifier }: ts.ImportDeclaration): readonly [string, ImportedName][] {
  if (importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword || !ts.isStringLiteral(moduleSpecifier)) return [];
  const from = moduleSpecifier.text;
  const bindings = importClause?.namedBindings;
  const byDefault: [string, ImportedName][] =
    importClause?.name === undefined ? [] : [[importClause.name.text, { from, name: 'default' }]];
  if (bindings === undefined) return byDefault;
  if (ts.isNamespaceImport(bindings)) return [...byDefault, [bindings.name.text, { from, name: '*' }]];
  const values = bindings.elements.filter(({ isTypeOnly }) => !isTypeOnly);
  return [
    ...byDefault,
    ...values.map(({ name, propertyName = name }): [string, ImportedName] => [
      name.text,
      { from, name: propertyName.text },
    ]),
  ];
}

function isRunAtOnce(statement: ts.Statement): boolean {
  const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
  return !isType && !ts.isImportDeclaration(statement) && declarationsOf(statement).length === 0;
}

function declarationsOf(statement: ts.Statement): readonly [string, ts.Node][] {
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
    return statement.name === undefined ? [] : [[statement.name.text, statement]];
  }
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap((declaration) =>
    namesIn(declaration.name).map((name): [string, ts.Node] => [name, declaration]),
  );
}

function namesIn(name: ts.BindingName): readonly string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? namesIn(element.name) : []));
}

function mentionsIn(nodes: readonly ts.Node[], { local, bindings }: Scope): Mentions {
  const names = new Set<string>();
  const loaded = new Set<string>();
  for (const node of nodes) collect(node, names, loaded);
  return {
    local: new Set([...names].filter((name) => local.has(name))),
    imported: [
      ...[...names].flatMap((name) => bindings.get(name) ?? []),
      ...[...loaded].map((from) => ({ from, name: '*' })),
    ],
  };
}

function collect(node: ts.Node, names: Set<string>, loaded: Set<string>): void {
  if (ts.isTypeNode(node)) return;
  if (ts.isIdentifier(node) && !isMemberName(node)) names.add(node.text);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [module] = node.arguments;
    if (module !== undefined && ts.isStringLiteral(module)) loaded.add(module.text);
  }
  ts.forEachChild(node, (child) => collect(child, names, loaded));
}

/** The `b` of `a.b` and of `{ b: 1 }` names no binding. */
function isMemberName(identifier: ts.Identifier): boolean {
  const { parent } = identifier;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === identifier;
  return ts.isPropertyAssignment(parent) && parent.name === identifier;
}
