import { describe, expect, test } from 'vitest';
import { annotationProblemsOfClass, annotationProblemsOfPod } from '#shared/kube/decode/decode-pod-request.ts';

const EVICT = 'plimsoll.dev/evict';
const OURS = 'plimsoll.dev/allow-preemption';
const YUNIKORN = 'yunikorn.apache.org/allow-preemption';

const UNREADABLE = 'annotation `plimsoll.dev/allow-preemption` is `no` and counts as absent: must be one of';
const BOTH =
  'annotation `yunikorn.apache.org/allow-preemption` is ignored, as it is set together with `plimsoll.dev/allow-preemption`';

describe('annotationProblemsOfPod', () => {
  test.each<readonly [what: string, Record<string, string>, readonly string[]]>([
    ['nothing', {}, []],
    ['known words', { [EVICT]: 'never', [OURS]: 'false' }, []],
    ['annotations of others', { 'example.com/allow-preemption': 'no' }, []],
    ['another word', { [OURS]: 'no' }, [`${UNREADABLE} \`true\`, \`false\``]],
    ["a class's word", { [YUNIKORN]: 'by-pod' }, [expect.stringContaining('is `by-pod` and counts as absent')]],
    [
      'no word for eviction',
      { [EVICT]: 'Never' },
      ['annotation `plimsoll.dev/evict` is `Never` and counts as absent: must be one of `never`, `last`'],
    ],
    ['both names', { [OURS]: 'true', [YUNIKORN]: 'false' }, [BOTH]],
  ])('%s', (_, annotations, expected) => {
    expect(annotationProblemsOfPod(new Map(Object.entries(annotations)))).toEqual(expected);
  });

  test('repeats no long text', () => {
    const [mistake = ''] = annotationProblemsOfPod(new Map([[EVICT, 'x'.repeat(100_000)]]));
    expect(mistake.length).toBeLessThan(200);
  });
});

test('annotationProblemsOfClass knows the word by which a class leaves it to its pods, and nothing of evictions', () => {
  expect(annotationProblemsOfClass(new Map([[OURS, 'by-pod']]))).toEqual([]);
  expect(annotationProblemsOfClass(new Map([[EVICT, 'x']]))).toEqual([]);
  expect(annotationProblemsOfClass(new Map([[OURS, 'no']]))).toEqual([`${UNREADABLE} \`true\`, \`false\`, \`by-pod\``]);
});
