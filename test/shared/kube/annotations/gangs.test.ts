import { describe, expect, test } from 'vitest';
import { gangWishOf } from '#shared/kube/annotations/gangs.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { valueOf } from '#test/build/value-of.ts';

const JOB = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'u', controller: true };

const read = (metadata: object, spec: object = {}) => gangWishOf(valueOf(decodePod({ metadata, spec })));

const OURS = 'plimsoll.dev/gang';
const SIZE = 'plimsoll.dev/gang-size';
const MIN = 'plimsoll.dev/gang-min';
const KUEUE = 'kueue.x-k8s.io/pod-group-name';
const TOTAL = 'kueue.x-k8s.io/pod-group-total-count';
const LIGHT = 'pod-group.scheduling.sigs.k8s.io';
const native = (podGroupName: string) => ({ schedulingGroup: { podGroupName } });

interface Expected {
  readonly name: string;
  readonly size?: number;
  readonly min?: number;
  readonly groupOf?: string;
}

const GANGS: readonly [string, metadata: object, Expected, spec?: object][] = [
  ['ours', { labels: { [OURS]: 'a', [SIZE]: '8', [MIN]: '6' } }, { name: 'a', size: 8, min: 6 }],
  ['ours as annotations', { annotations: { [OURS]: 'a', [SIZE]: '8' } }, { name: 'a', size: 8 }],
  [
    'a label before an annotation',
    { labels: { [OURS]: 'a', [SIZE]: '8' }, annotations: { [OURS]: 'b', [SIZE]: '9' } },
    { name: 'a', size: 8 },
  ],
  ['a Job', { labels: { [OURS]: 'auto', [SIZE]: '8' }, ownerReferences: [JOB] }, { name: 'train', size: 8 }],
  ['Kueue', { labels: { [KUEUE]: 'a' }, annotations: { [TOTAL]: '8' } }, { name: 'a', size: 8 }],
  ['coscheduling', { labels: { 'scheduling.x-k8s.io/pod-group': 'a' } }, { name: 'a', groupOf: 'scheduling.x-k8s.io' }],
  [
    'lightweight coscheduling',
    { labels: { [`${LIGHT}/name`]: 'a', [`${LIGHT}/min-available`]: '3' } },
    { name: 'a', min: 3 },
  ],
  ['a PodGroup', {}, { name: 'a', groupOf: 'scheduling.k8s.io' }, native('a')],
  ['ours before a PodGroup', { labels: { [OURS]: 'a', [MIN]: '1000' } }, { name: 'a', min: 1_000 }, native('b')],
];

const A_NUMBER = 'must be a whole number from 1 to 1000, not';
const A_NAME = `${OURS} must be a name of at most 63 characters: letters, digits, "-", "_" and "."`;

const REFUSED: readonly [string, labels: object, text: string][] = [
  ['no size', { [OURS]: 'a' }, `the pod names a gang without its size: set ${SIZE} or ${MIN}`],
  ['not a number', { [OURS]: 'a', [SIZE]: 'many' }, `${SIZE} ${A_NUMBER} "many"`],
  ['zero', { [OURS]: 'a', [SIZE]: '0' }, `${SIZE} ${A_NUMBER} "0"`],
  ['a million', { [OURS]: 'a', [SIZE]: '1000000' }, `${SIZE} ${A_NUMBER} "1000000"`],
  ['one more than planned', { [OURS]: 'a', [MIN]: '1001' }, `${MIN} ${A_NUMBER} "1001"`],
  ['another spelling', { [OURS]: 'a', [SIZE]: '+8' }, `${SIZE} ${A_NUMBER} "+8"`],
  ['a bad minimum beside a size', { [OURS]: 'a', [SIZE]: '8', [MIN]: '' }, `${MIN} ${A_NUMBER} ""`],
  ['minimum above size', { [OURS]: 'a', [SIZE]: '4', [MIN]: '5' }, `${MIN} is 5, more than ${SIZE}, which is 4`],
  [
    'auto without a Job',
    { [OURS]: 'auto', [SIZE]: '4' },
    `${OURS}: auto is for the pods of a Job; give the gang a name and a size`,
  ],
  ['an empty name', { [OURS]: '', [SIZE]: '4' }, A_NAME],
  ['a size of Kueue', { [KUEUE]: 'a', [TOTAL]: '1e3' }, `${TOTAL} ${A_NUMBER} "1e3"`],
];

describe('the gang that a pod names', () => {
  test('is none for most pods', () => {
    expect([read({}), read({ labels: { app: 'a', 'plimsoll.dev/gang-size': '4' } })]).toEqual([undefined, undefined]);
  });

  test.each(GANGS)('%s', (_, metadata, expected, spec = {}) => {
    expect(read(metadata, spec)).toEqual({ size: undefined, min: undefined, ...expected });
  });

  test.each(REFUSED)('%s: a reason that names the field', (_, labels, text) => {
    expect(read({ labels })?.problem?.text).toBe(text);
  });

  test('a long value is not repeated whole', () => {
    const annotations = { [OURS]: 'a', [SIZE]: '9'.repeat(100_000) };
    expect(read({ annotations })?.problem?.text.length).toBeLessThan(200);
  });

  test('an annotation longer than a label is no name', () => {
    const annotations = { [OURS]: 'x'.repeat(64), [SIZE]: '4' };
    expect(read({ annotations })?.problem?.code).toBe('GangNameInvalid');
  });
});
