import { describe, expect, test } from 'vitest';
import { qosClass, reportedQosClass } from '#shared/domain/pod/pod-requests.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { required } from '#test/conformance/required.ts';

const FULL = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1000m', memory: '1024Mi' } };

function podOf(spec: object, status: object = {}) {
  return required(decodePod({ spec, status }));
}

function withContainers(...resources: readonly object[]) {
  return { containers: resources.map((each) => ({ name: 'app', resources: each })) };
}

describe('qosClass', () => {
  test.each([
    ['requests equal to limits, however spelled', withContainers(FULL), 'Guaranteed'],
    [
      'sums are compared, not containers',
      withContainers({ ...FULL, requests: { cpu: '2', memory: '1Gi' } }, { ...FULL, requests: { memory: '1Gi' } }),
      'Guaranteed',
    ],
    ['a container without limits', withContainers(FULL, {}), 'Burstable'],
    ['an init container without limits', { ...withContainers(FULL), initContainers: [{ name: 'init' }] }, 'Burstable'],
    ['nothing stated', withContainers({}), 'BestEffort'],
    ['zero counts as not stated', withContainers({ requests: { cpu: '0' } }), 'BestEffort'],
    ['other resources do not count', withContainers({ requests: { 'ephemeral-storage': '1Gi' } }), 'BestEffort'],
    ['overhead does not count', { ...withContainers({}), overhead: { cpu: '1' } }, 'BestEffort'],
    ['pod-level resources hide the containers', { ...withContainers({}), resources: FULL }, 'Guaranteed'],
    ['empty ones too', { ...withContainers(FULL), resources: {} }, 'BestEffort'],
    ['pod-level requests alone', { ...withContainers(FULL), resources: { requests: { cpu: '1' } } }, 'Burstable'],
  ])('%s', (_, spec, expected) => {
    expect(qosClass(podOf(spec))).toBe(expected);
  });
});

describe('reportedQosClass', () => {
  test('is what the status says, whatever it says', () => {
    expect(reportedQosClass(podOf(withContainers(FULL), { qosClass: 'Golden' }))).toBe('Golden');
  });

  test('is computed where the status says nothing', () => {
    expect(reportedQosClass(podOf(withContainers(FULL)))).toBe('Guaranteed');
  });
});
