import { describe, expect, test } from 'vitest';
import { compareOpinion } from '#agent/cross-check/compare-opinion.ts';
import { memoryPeer } from '#agent/cross-check/peer.ts';
import { createCrossCheck } from '#agent/cross-check/cross-check.ts';
import { createRecentRange, type OwnReading } from '#agent/cross-check/own-figures.ts';
import { MIB } from '#test/agent/node-scene.ts';
import { DOUBTS } from '#agent/messages.ts';

const own: OwnReading = { totalBytes: 1000 * MIB, lowBytes: 400 * MIB, highBytes: 450 * MIB };
const opinion = (totalMiB: number, availableMiB: number) => ({
  totalBytes: totalMiB * MIB,
  availableBytes: availableMiB * MIB,
});

describe('compareOpinion', () => {
  test.each<[sentence: string, totalMiB: number, availableMiB: number, kind: string]>([
    ['between our two readings', 1000, 420, 'agrees'],
    ['within the tolerance of either', 1000, 351, 'agrees'],
    ['beyond the tolerance below', 1000, 349, 'differs'],
    ['beyond the tolerance above', 1000, 501, 'differs'],
    ['another machine proves nothing', 2000, 100, 'incomparable'],
    ['KiB taken for bytes proves nothing', 1, 0.4, 'incomparable'],
    ['no figure proves nothing', 1000, Number.NaN, 'incomparable'],
  ])('%s', (_sentence, totalMiB, availableMiB, kind) => {
    expect(compareOpinion('other', opinion(totalMiB, availableMiB), own, 0.05).kind).toBe(kind);
  });

  test('a disagreement names the source and both figures', () => {
    expect(compareOpinion('other', opinion(1000, 100), own, 0.05)).toEqual({
      source: 'other',
      kind: 'differs',
      because: {
        code: 'SourcesDisagree',
        text: DOUBTS.sourcesDisagree({ source: 'other', theirsMiB: 100, ownLowMiB: 400, ownHighMiB: 450 }).text,
        facts: { source: 'other', theirsMiB: 100, ownLowMiB: 400, ownHighMiB: 450, byMiB: 300 },
      },
    });
  });
});

describe('createCrossCheck', () => {
  type Ask = () => Promise<ReturnType<typeof opinion>>;

  async function checked(times: number, ...answers: Ask[]) {
    const sources = answers.map((ask, index) => memoryPeer(`s${index}`, ask, () => own, 0.05));
    const check = createCrossCheck(sources);
    for (let count = 0; count < times; count += 1) await check.check();
    return check;
  }
  const agrees: Ask = () => Promise.resolve(opinion(1000, 420));
  const differs: Ask = () => Promise.resolve(opinion(1000, 100));

  test('one source that differs twice stops both memory signals, whatever the others say', async () => {
    const check = await checked(2, agrees, differs);
    expect([...check.doubts().keys()]).toEqual(['memory.available', 'allocatableMemory.available']);
    expect(check.disagreement()?.code).toBe('SourcesDisagree');
  });

  test('a single difference shows in the verdicts and stops nothing', async () => {
    const check = await checked(1, agrees, differs);
    expect(check.verdicts().map(({ kind }) => kind)).toEqual(['agrees', 'differs']);
    expect([check.doubts().size, check.disagreement()]).toEqual([0, undefined]);
  });

  test('two differences must be consecutive', async () => {
    const turns = [differs, agrees, differs];
    const check = await checked(3, () => turns.shift()?.() ?? agrees());
    expect(check.doubts().size).toBe(0);
  });

  test('a source that fails or cannot be compared stops nothing, and is reported only if no other was compared', async () => {
    const failing = () => Promise.reject(new Error('no such file'));
    const alone = await checked(2, failing, () => Promise.resolve(opinion(5, 5)));
    expect(alone.doubts().size).toBe(0);
    expect(alone.disagreement()).toEqual({
      code: 'SourcesNotComparable',
      text: 's0: no such file',
      facts: { source: 's0' },
    });
    const together = await checked(2, failing, agrees);
    expect(together.disagreement()).toBeUndefined();
  });

  test('without any source it says that nothing was compared', async () => {
    expect((await checked(1)).disagreement()?.code).toBe('SourcesNotComparable');
  });

  test('a pod that differs twice is doubtful, the node is not', async () => {
    const doubt = { theirsBytes: 5, because: { code: 'StatisticsDoubtful', text: 'it differs', facts: {} } };
    const turns = [['a'], ['a', 'b'], ['b']];
    const query = () => {
      const differing = new Map((turns.shift() ?? []).map((uid) => [uid, doubt]));
      return Promise.resolve({ verdict: { source: 'k', kind: 'agrees' as const }, pods: { compared: 2, differing } });
    };
    const check = createCrossCheck([{ name: 'k', query }]);
    const doubtful: string[][] = [];
    for (let count = 0; count < 3; count += 1) {
      await check.check();
      doubtful.push([...check.doubtfulPods().keys()]);
      expect(check.doubts().size).toBe(0);
    }
    expect(doubtful).toEqual([[], ['a'], ['b']]);
    expect(check.disagreement()).toEqual({
      code: 'PodsDisagree',
      text: DOUBTS.podsDisagree({ pods: 1, example: 'it differs' }).text,
      facts: { pods: 1 },
    });
  });
});

describe('createRecentRange', () => {
  test('spans what was seen within the window, in bounded memory', () => {
    const recent = createRecentRange(20_000);
    expect(recent.range(0)).toBeUndefined();
    for (let at = 0; at <= 60_000; at += 100) recent.note(at, at);
    expect(recent.range(60_000)).toEqual({ low: expect.closeTo(40_000, -3) as number, high: 60_000 });
    expect(recent.range(100_000)).toBeUndefined();
  });
});
