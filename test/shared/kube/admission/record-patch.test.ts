import jsonPatch from 'fast-json-patch';
import { expect, test } from 'vitest';
import { priorityPatch } from '#shared/kube/admission/pod-patches.ts';

const CLASS = { priorityClassName: 'low', priority: 10, preemptionPolicy: 'Never' };
const RULE = 'plimsoll.dev/class-rule';

test.each<[string, object | undefined, string | undefined, object | undefined]>([
  ['is written on a pod without annotations', undefined, 'p/r', { [RULE]: 'p/r' }],
  ['is written beside other annotations', { a: 'b' }, 'p/r', { a: 'b', [RULE]: 'p/r' }],
  ['replaces another', { [RULE]: 'p/q' }, 'p/r', { [RULE]: 'p/r' }],
  ['is taken off', { a: 'b', [RULE]: 'p/q' }, '', { a: 'b' }],
  ['is not taken off where there is none', { a: 'b' }, '', { a: 'b' }],
  ['is left as it is', { [RULE]: 'p/q' }, undefined, { [RULE]: 'p/q' }],
])('the rule that gave the class %s', (_, before, classRule, after) => {
  const pod = { metadata: { ...(before !== undefined && { annotations: before }) }, spec: { ...CLASS } };
  const patch = priorityPatch(pod, { ...CLASS, ...(classRule !== undefined && { classRule }) });
  const { newDocument } = jsonPatch.applyPatch(structuredClone(pod), patch as jsonPatch.Operation[], true);
  expect(newDocument).toEqual({ metadata: { annotations: after }, spec: CLASS });
});
