import ts from 'typescript';
import { literalText, literalTexts } from './literal-values.ts';
import type { MetricDefinition, MetricType } from './metric-definition.ts';

/** A metric and the top-level declaration whose code registers it. */
export interface RegisteredMetric {
  readonly declaration: string;
  readonly definition: MetricDefinition;
}

/** The type that each method registers. */
const TYPES: Readonly<Record<string, MetricType>> = {
  counter: 'counter',
  readCounter: 'counter',
  gauge: 'gauge',
  histogram: 'histogram',
};

/**
 * Every call `metrics.counter(…)`, `.readCounter(…)`, `.gauge(…)` and `.histogram(…)` of a module. Throws if name, help or labels are not
 * literal texts: names of metrics must be searchable.
 */
export function readDefinitions(file: string, text: string): readonly RegisteredMetric[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return source.statements.flatMap((statement) =>
    callsIn(statement).map((call) => ({ declaration: declarationAround(call), definition: definitionOf(call) })),
  );
}

function callsIn(node: ts.Node): readonly ts.CallExpression[] {
  const below: ts.CallExpression[] = [];
  ts.forEachChild(node, (child) => {
    below.push(...callsIn(child));
  });
  return ts.isCallExpression(node) && isRegistration(node) ? [node, ...below] : below;
}

function isRegistration({ expression }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(expression)) return false;
  const isMetrics = /(^|\.)metrics$/.test(expression.expression.getText());
  return isMetrics && TYPES[expression.name.text] !== undefined;
}

function definitionOf(call: ts.CallExpression): MetricDefinition {
  const [name, help, labels] = call.arguments;
  const type = TYPES[(call.expression as ts.PropertyAccessExpression).name.text] as MetricType;
  return {
    name: literalText(required(name, call)),
    type,
    help: literalText(required(help, call)),
    labels: labels === undefined ? [] : literalTexts(labels),
  };
}

function required(argument: ts.Expression | undefined, call: ts.CallExpression): ts.Expression {
  if (argument === undefined) throw new Error(`cannot read a metric: ${call.getText()} has no name or no help`);
  return argument;
}

function declarationAround(call: ts.Node): string {
  let top: ts.Node = call;
  while (!ts.isSourceFile(top.parent)) top = top.parent;
  if (ts.isFunctionDeclaration(top) || ts.isClassDeclaration(top)) return top.name?.text ?? '';
  if (!ts.isVariableStatement(top)) return '';
  return top.declarationList.declarations[0]?.name.getText() ?? '';
}
