import { expect, test } from 'vitest';
import { storedModel } from '#cli/cluster/cluster-model.ts';
import { parseManifests } from '#cli/manifests/parse-manifests.ts';
import { podRequests } from '#shared/domain/pod/pod-requests.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';

function modelOf(text: string) {
  return storedModel({ manifests: parseManifests({ name: 'text', text }), namespace: 'default', now: 0 });
}

test('a pod of a file requests what its limits say, as after its creation', () => {
  const { pods } = modelOf(
    'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n' +
      'spec: {containers: [{name: main, resources: {requests: {cpu: 1}, limits: {cpu: 2, nvidia.com/gpu: 1}}}]}\n',
  );
  const requests = pods.flatMap((pod) => [...podRequests(pod)].map(([type, amount]) => [type, formatQuantity(amount)]));
  expect(Object.fromEntries(requests)).toEqual({ cpu: '1', 'nvidia.com/gpu': '1' });
});

test.each(['List', 'PodList'])('a %s of no items is empty, as programs in Go write it', (kind) => {
  expect(parseManifests({ name: 'text', text: `{"apiVersion":"v1","kind":"${kind}","items":null}` })).toEqual([]);
});
