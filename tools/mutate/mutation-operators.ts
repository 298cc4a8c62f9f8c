import ts from 'typescript';

/** Another text for a piece of code. */
export interface Mutation {
  readonly node: ts.Node;
  readonly replacement: string;
}

/** The possible changes at one node of the syntax tree. */
export type Operator = (node: ts.Node) => readonly Mutation[];

const { SyntaxKind } = ts;

const OTHER_TOKENS: ReadonlyMap<ts.SyntaxKind, readonly string[]> = new Map([
  [SyntaxKind.LessThanToken, ['<=', '>=']],
  [SyntaxKind.LessThanEqualsToken, ['<', '>']],
  [SyntaxKind.GreaterThanToken, ['>=', '<=']],
  [SyntaxKind.GreaterThanEqualsToken, ['>', '<']],
  [SyntaxKind.EqualsEqualsEqualsToken, ['!==']],
  [SyntaxKind.ExclamationEqualsEqualsToken, ['===']],
  [SyntaxKind.AmpersandAmpersandToken, ['||']],
  [SyntaxKind.BarBarToken, ['&&']],
  [SyntaxKind.PlusToken, ['-']],
  [SyntaxKind.MinusToken, ['+']],
  [SyntaxKind.AsteriskToken, ['/']],
  [SyntaxKind.SlashToken, ['*']],
  [SyntaxKind.PlusEqualsToken, ['-=']],
  [SyntaxKind.MinusEqualsToken, ['+=']],
]);

const OTHER_METHODS: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['floor', 'ceil'],
  ['ceil', 'floor'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['find', 'findLast'],
  ['findLast', 'find'],
]);

/** Calls whose result resembles their receiver: without them the code still runs. */
const DROPPED_METHODS = ['filter', 'slice', 'sort', 'toSorted', 'toReversed', 'trim'];

const otherToken: Operator = (node) => {
  if (!ts.isBinaryExpression(node)) return [];
  const { operatorToken } = node;
  // Texts are concatenated, never subtracted.
  if (operatorToken.kind === SyntaxKind.PlusToken && [node.left, node.right].some(isText)) return [];
  return (OTHER_TOKENS.get(operatorToken.kind) ?? []).map((replacement) => ({ node: operatorToken, replacement }));
};

/** In brackets, as `??` and `&&` may not stand next to each other. */
const withoutDefault: Operator = (node) =>
  ts.isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.QuestionQuestionToken
    ? [{ node, replacement: `(${node.left.getText()})` }]
    : [];

const fixedCondition: Operator = (node) => {
  const condition = conditionOf(node);
  return condition === undefined ? [] : ['true', 'false'].map((replacement) => ({ node: condition, replacement }));
};

const withoutNot: Operator = (node) =>
  ts.isPrefixUnaryExpression(node) && [SyntaxKind.ExclamationToken, SyntaxKind.MinusToken].includes(node.operator)
    ? [{ node, replacement: node.operand.getText() }]
    : [];

const otherLiteral: Operator = (node) => {
  if (node.kind === SyntaxKind.TrueKeyword) return [{ node, replacement: 'false' }];
  if (node.kind === SyntaxKind.FalseKeyword) return [{ node, replacement: 'true' }];
  if (ts.isNumericLiteral(node)) return [{ node, replacement: `(${node.text} + 1)` }];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) return [{ node, replacement: '[]' }];
  return [];
};

const otherMethod: Operator = (node) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const { name, expression } = node.expression;
  const other = OTHER_METHODS.get(name.text);
  if (other !== undefined) return [{ node: name, replacement: other }];
  if (!DROPPED_METHODS.includes(name.text)) return [];
  // A copy, as `filter` makes one: what follows may sort in place, and other mutants get the same input.
  const isCopied = name.text === 'filter' && node.expression.questionDotToken === undefined;
  return [{ node, replacement: isCopied ? `[...${expression.getText()}]` : expression.getText() }];
};

const withoutStatement: Operator = (node) =>
  ts.isExpressionStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node)
    ? [{ node, replacement: ';' }]
    : [];

const OPERATORS: readonly Operator[] = [
  otherToken,
  withoutDefault,
  fixedCondition,
  withoutNot,
  otherLiteral,
  otherMethod,
  withoutStatement,
];

/** All possible changes at a node. */
export function changesAt(node: ts.Node): readonly Mutation[] {
  return OPERATORS.flatMap((operator) => operator(node));
}

function conditionOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return node.expression;
  if (ts.isConditionalExpression(node) || ts.isForStatement(node)) return node.condition;
  return undefined;
}

function isText(node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}
