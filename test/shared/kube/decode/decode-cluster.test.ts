import { describe, expect, test } from 'vitest';
import { decodeBudget, decodeNamespace, decodeNode } from '#shared/kube/decode/decode-objects.ts';
import { amountsOf, mapOf } from '#test/build/cluster.ts';

describe('decodeNode', () => {
  test('reads what scheduling looks at, and passes over the rest', () => {
    const raw = {
      metadata: { name: 'n', uid: 'u', labels: { disk: 'ssd' }, annotations: { x: 'y' } },
      spec: { unschedulable: true, taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }, { key: 'only' }] },
      status: { allocatable: { cpu: '4', pods: '110' }, capacity: { cpu: '8' } },
    };
    expect(decodeNode(raw)).toEqual({
      ok: true,
      value: {
        name: 'n',
        uid: 'u',
        labels: mapOf({ disk: 'ssd' }),
        taints: [
          { key: 'k', value: 'v', effect: 'NoSchedule' },
          { key: 'only', value: '', effect: '' },
        ],
        isUnschedulable: true,
        allocatable: amountsOf({ cpu: '4', pods: '110' }),
      },
    });
  });

  test('an empty object is a node without anything', () => {
    const value = { name: '', uid: '', labels: mapOf(), taints: [], isUnschedulable: false, allocatable: amountsOf() };
    expect(decodeNode({})).toEqual({ ok: true, value });
  });

  test.each([
    ['not an object', 7, ''],
    ['a field of another type', { spec: { unschedulable: 'yes' } }, 'spec.unschedulable'],
    ['no quantity', { status: { allocatable: { cpu: 'much' } } }, 'status.allocatable.cpu'],
    ['a taint that is none', { spec: { taints: [3] } }, 'spec.taints[0]'],
  ])('%s is refused by the name of the field', (_, raw, field) => {
    expect(decodeNode(raw)).toMatchObject({ ok: false, field });
  });
});

describe('decodeBudget', () => {
  test('reads selector and counters', () => {
    const raw = {
      metadata: { namespace: 'prod', name: 'b' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
      status: { disruptionsAllowed: 2, disruptedPods: { p: '2026-01-01T00:00:00Z' } },
    };
    expect(decodeBudget(raw)).toEqual({
      ok: true,
      value: {
        namespace: 'prod',
        name: 'b',
        selector: { matchLabels: mapOf({ app: 'a' }), matchExpressions: [] },
        disruptionsAllowed: 2,
        disruptedPods: new Set(['p']),
      },
    });
  });

  test('a budget that is not counted yet allows nothing', () => {
    const value = { namespace: '', name: '', selector: undefined, disruptionsAllowed: 0, disruptedPods: new Set() };
    expect(decodeBudget({ spec: { selector: null } })).toEqual({ ok: true, value });
  });

  test('a counter that is none is refused by name', () => {
    const raw = { status: { disruptionsAllowed: '1' } };
    expect(decodeBudget(raw)).toMatchObject({ ok: false, field: 'status.disruptionsAllowed' });
  });
});

describe('decodeNamespace', () => {
  test('reads name and labels', () => {
    const raw = { metadata: { name: 'prod', labels: { team: 'x' } } };
    expect(decodeNamespace(raw)).toEqual({ ok: true, value: { name: 'prod', labels: mapOf({ team: 'x' }) } });
    expect(decodeNamespace({})).toEqual({ ok: true, value: { name: '', labels: mapOf() } });
  });

  test('labels that are none are refused by name', () => {
    expect(decodeNamespace({ metadata: { labels: { a: 1 } } })).toMatchObject({
      ok: false,
      field: 'metadata.labels.a',
    });
  });
});
