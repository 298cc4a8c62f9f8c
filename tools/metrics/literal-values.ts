import ts from 'typescript';

/** The value of a literal text expression. Throws if it is computed. */
export function literalText(expression: ts.Expression): string {
  const value = resolved(expression);
  if (ts.isStringLiteralLike(value)) return value.text;
  if (ts.isBinaryExpression(value) && value.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return literalText(value.left) + literalText(value.right);
  }
  throw unreadable(expression);
}

/** The texts of a list, with lists spread into it. Throws when one is computed. */
export function literalTexts(expression: ts.Expression): readonly string[] {
  const value = resolved(expression);
  if (!ts.isArrayLiteralExpression(value)) throw unreadable(expression);
  return value.elements.flatMap((element) =>
    ts.isSpreadElement(element) ? literalTexts(element.expression) : [literalText(element)],
  );
}

/** Resolves a name to a constant of the same module. */
function resolved(expression: ts.Expression): ts.Expression {
  if (ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression)) return resolved(expression.expression);
  if (!ts.isIdentifier(expression)) return expression;
  const initializer = constantNamed(expression.text, expression);
  return initializer === undefined ? expression : resolved(initializer);
}

function constantNamed(name: string, from: ts.Node): ts.Expression | undefined {
  for (let scope: ts.Node = from; !ts.isSourceFile(scope);) {
    scope = scope.parent;
    if (!ts.isBlock(scope) && !ts.isSourceFile(scope)) continue;
    const found = scope.statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
      .find((declaration) => declaration.name.getText() === name);
    if (found !== undefined) return found.initializer;
  }
  return undefined;
}

function unreadable(expression: ts.Expression): Error {
  const source = expression.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(expression.getStart());
  return new Error(
    `cannot read a metric at ${source.fileName}:${line + 1}: "${expression.getText()}" is computed; write it as text`,
  );
}
