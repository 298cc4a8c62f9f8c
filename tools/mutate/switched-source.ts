import ts from 'typescript';
import type { Mutation } from './mutation-operators.ts';

/** One piece of code in several versions, with and without mistakes. */
interface Site {
  readonly change: Mutation;
  readonly index: number;
}

/**
 * The source with all of its changes at once, each behind `mutants.is(INDEX)` (see `mutant-switch.ts`), so that tests
 * load it once for all mutants.
 */
export function switchedSource(source: ts.SourceFile, changes: readonly Mutation[], first: number): string {
  const sites = new Map<ts.Node, Site[]>();
  for (const [at, change] of changes.entries()) {
    const host = hostOf(change.node);
    sites.set(host, [...(sites.get(host) ?? []), { change, index: first + at }]);
  }
  return source.text.slice(0, source.getStart()) + written(source, sites);
}

/** The smallest statement or expression around a piece of code that can be switched. */
function hostOf(node: ts.Node): ts.Node {
  let host = node;
  while (!isChoosable(host)) host = host.parent;
  return host;
}

function isChoosable(node: ts.Node): boolean {
  if (ts.isExpressionStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node)) return true;
  return ts.isExpression(node) && !isPartOfExpression(node, node.parent);
}

/**
 * Whether parentheses would change the meaning of an expression, or make it invalid: parts of `a?.b.c()`, of `a += b`.
 */
function isPartOfExpression(node: ts.Node, parent: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(parent)) return true;
  if (ts.isLeftHandSideExpression(parent) && 'expression' in parent) return parent.expression === node;
  if (ts.isBinaryExpression(parent)) return parent.left === node && isAssignment(parent.operatorToken.kind);
  return ts.isDeleteExpression(parent) || ts.isPostfixUnaryExpression(parent);
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

function written(node: ts.Node, sites: ReadonlyMap<ts.Node, readonly Site[]>): string {
  const { text } = node.getSourceFile();
  let asItIs = '';
  let end = node.getStart();
  ts.forEachChild(node, (child) => {
    asItIs += text.slice(end, child.getStart()) + written(child, sites);
    end = child.getEnd();
  });
  asItIs += text.slice(end, node.getEnd());
  return (sites.get(node) ?? []).reduceRight((rest, site) => eitherOf(node, site, rest), asItIs);
}

function eitherOf(host: ts.Node, { change: { node, replacement }, index }: Site, rest: string): string {
  const { text } = host.getSourceFile();
  const mistaken =
    text.slice(host.getStart(), node.getStart()) + replacement + text.slice(node.getEnd(), host.getEnd());
  return ts.isStatement(host)
    ? `if (mutants.is(${index})) {${mistaken}} else {${rest}}`
    : `(mutants.is(${index}) ? ${mistaken} : ${rest})`;
}
