import { expect, test } from 'vitest';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import {
  celIsOn,
  dividing,
  isOn,
  NAMESPACE_SWITCHES,
  queriesFor,
  selecting,
  type WrittenRequirement,
} from '#shared/kube/namespace-switches.ts';
import { celValue, compileExpression } from '#sandbox/api-server/cel/expression.ts';
import { parseLabelQuery } from '#sandbox/api-server/selectors/label-query.ts';

const VALUES = [undefined, 'enforced', 'managed', 'true', 'false', ''];
const CASES = Object.values(NAMESPACE_SWITCHES).flatMap((part) =>
  VALUES.flatMap((own) =>
    VALUES.map((managed) => {
      const labels = new Map<string, string>();
      if (own !== undefined) labels.set(part.key, own);
      if (managed !== undefined) labels.set('plimsoll.dev/managed', managed);
      return { part, own, managed, labels };
    }),
  ),
);

function meets(labels: ReadonlyMap<string, string>, requirements: readonly WrittenRequirement[]): boolean {
  const matchExpressions = requirements.map((each) => ({ values: [], ...each }));
  return prepareSelector({ matchLabels: new Map(), matchExpressions }).matches(labels);
}

test('the label of a part wins, and without it the label for all parts counts', () => {
  for (const { part, own, managed, labels } of CASES)
    expect([own, managed, isOn(part, labels)]).toEqual([
      own,
      managed,
      own === part.on || (own === undefined && managed === 'true'),
    ]);
  expect(isOn(NAMESPACE_SWITCHES.queues, undefined)).toBe(false);
});

test('selectors, queries and expressions say the same, and no namespace meets two selectors', () => {
  for (const { part, labels } of CASES) {
    const on = isOn(part, labels);
    const { own, managed } = selecting(part);
    expect([own, managed].filter((each) => meets(labels, each))).toHaveLength(on ? 1 : 0);
    expect(queriesFor(part).filter((query) => parseLabelQuery(query)(Object.fromEntries(labels)))).toHaveLength(
      on ? 1 : 0,
    );
    const compiled = compileExpression(celIsOn(part), ['namespaceObject']);
    const metadata = labels.size === 0 ? {} : { labels: Object.fromEntries(labels) };
    const namespaceObject = celValue({ metadata });
    expect(compiled.ok && compiled.expression.evaluate({ namespaceObject })).toBe(on);
  }
});

test('three selectors divide all namespaces, and the last has none where the part is on', () => {
  for (const { part, labels } of CASES) {
    const { own, managed, rest } = dividing(part);
    expect([own, managed, rest].filter((each) => meets(labels, each))).toHaveLength(1);
    expect(meets(labels, rest) && isOn(part, labels)).toBe(false);
  }
});
