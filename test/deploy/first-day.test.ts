import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { decodePolicy } from '#shared/api/node-pressure-policy/decode-policy.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { decodePriorityQuota } from '#shared/api/priority-quota.ts';
import { declaredReclaim, decodeQueue } from '#shared/api/queue.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { FIRST_DAY } from '#cli/init/first-day.ts';
import { selectorOf } from '#sandbox/api-server/selectors/label-query.ts';
import { isOn, NAMESPACE_SWITCHES } from '#shared/kube/namespace-switches.ts';
import { valueOf } from '#test/build/value-of.ts';
import { at } from '#test/contract/harness.ts';

const text = readFileSync('deploy/examples/first-day.yaml', 'utf8');
const objects = parseAllDocuments(text).map((document) => document.toJS() as KubeObject & { readonly kind: string });

function ofKind(kind: string): readonly KubeObject[] {
  return objects.filter((each) => each.kind === kind);
}

describe('the objects of the first day', () => {
  test('are fifty lines at most, one of each kind and two classes', () => {
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(50);
    expect(objects.map(({ kind }) => kind)).toEqual([
      'PriorityClass',
      'PriorityClass',
      'PriorityPolicy',
      'PriorityQuota',
      'Queue',
      'NodePressurePolicy',
    ]);
  });

  test('select namespaces by one label, by which all parts are on', () => {
    const labels = new Map([['plimsoll.dev/managed', 'true']]);
    const selectors = objects.flatMap((each) => at(each, 'spec.namespaceSelector') ?? []);
    expect(selectors.map((each) => selectorOf(each).matches(labels))).toEqual([true, true, true]);
    expect(Object.values(NAMESPACE_SWITCHES).filter((part) => !isOn(part, labels))).toEqual([]);
  });

  test('are done in eight steps on one page, whose commands set that label and have no more YAML', () => {
    const page = readFileSync('docs/tutorial.md', 'utf8');
    expect(page.match(/^## \d/gm)?.length).toBeLessThanOrEqual(8);
    expect(page.match(/^kubectl label namespace .*$/gm)).toEqual([
      'kubectl label namespace first-team plimsoll.dev/managed=true',
    ]);
    expect(page).not.toContain('```yaml');
  });

  test('are those of plimsoll init', () => {
    expect(FIRST_DAY.map(({ object }) => object)).toEqual(objects);
  });

  test('refuse and evict nothing', () => {
    expect(ofKind('PriorityPolicy').map((each) => valueOf(decodePriorityPolicy(each)).onViolation)).toEqual(['Warn']);
    const queues = ofKind('Queue').map((each) => valueOf(decodeQueue(each)));
    expect(declaredReclaim(queues).mode).toBe('DryRun');
    const [nodes] = ofKind('NodePressurePolicy').map((each) => valueOf(decodePolicy(each)));
    expect([nodes?.policy.mode, nodes?.nodes.avoidance.mode, nodes?.nodes.taints.mode]).toEqual([
      'DryRun',
      'DryRun',
      'DryRun',
    ]);
  });

  test('name only classes that they bring', () => {
    const classes = ofKind('PriorityClass').map(({ metadata }) => metadata.name);
    const named = ['PriorityPolicy', 'PriorityQuota']
      .flatMap(ofKind)
      .flatMap((each) => [
        at(each, 'spec.defaultPriorityClassName') ?? [],
        at(each, 'spec.allowedPriorityClassNames') ?? [],
        at(each, 'spec.priorityClassNames') ?? [],
      ]);
    expect([...new Set(named.flat())].toSorted()).toEqual([...classes].toSorted());
    expect(ofKind('PriorityQuota').every((each) => decodePriorityQuota(each).ok)).toBe(true);
  });
});
