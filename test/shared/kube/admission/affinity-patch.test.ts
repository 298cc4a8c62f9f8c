import jsonPatch from 'fast-json-patch';
import { describe, expect, test } from 'vitest';
import { affinityPatch } from '#shared/kube/admission/pod-patches.ts';

const not = (node: string) => ({ key: 'metadata.name', operator: 'NotIn', values: [node] });
const PREFERENCE = { weight: 100, preference: { matchFields: [not('a')] } };
const ZONE = { key: 'zone', operator: 'In', values: ['z'] };

/** The spec after the patch, which applies to the pod. */
function patched(spec: Record<string, unknown>, nodes: readonly string[]): unknown {
  const operations = affinityPatch(spec, nodes);
  const pod = { spec: structuredClone(spec) };
  return jsonPatch.applyPatch(pod, operations as jsonPatch.Operation[]).newDocument.spec;
}

function required(...nodeSelectorTerms: readonly object[]): object {
  return { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
}

describe('affinityPatch', () => {
  test('a pod without affinity gets a preference', () => {
    expect(patched({}, ['a'])).toEqual({
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [PREFERENCE] } },
    });
  });

  test('nodes are named one by one: the API server takes one value per requirement on metadata.name', () => {
    expect(patched({}, ['a', 'b'])).toMatchObject({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ preference: { matchFields: [not('a'), not('b')] } }],
        },
      },
    });
  });

  test('the affinity of the pod stays', () => {
    const own = { weight: 1, preference: { matchExpressions: [ZONE] } };
    const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] };
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [own] };
    expect(patched({ affinity: { podAffinity, nodeAffinity } }, ['a'])).toEqual({
      affinity: {
        podAffinity,
        nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [own, PREFERENCE] },
      },
    });
  });

  test('an affinity that is null counts as none', () => {
    expect(patched({ affinity: null }, ['a'])).toMatchObject({ affinity: { nodeAffinity: {} } });
  });

  test('what the pod itself requires stays as it is', () => {
    const nodeAffinity = required({ matchExpressions: [ZONE] }, {});
    expect(patched({ affinity: { nodeAffinity } }, ['a'])).toEqual({
      affinity: { nodeAffinity: { ...nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution: [PREFERENCE] } },
    });
  });

  test.each([{}, { affinity: {} }, { affinity: { nodeAffinity: required({ matchExpressions: [ZONE] }) } }])(
    'patching twice is patching once: %j',
    (spec) => {
      const once = patched(spec, ['a', 'b']) as Record<string, unknown>;
      expect(affinityPatch(once, ['a', 'b'])).toEqual([]);
    },
  );
});
