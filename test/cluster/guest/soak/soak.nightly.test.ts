import { beforeAll, describe, expect, test } from 'vitest';
import { findGuestTools, neededTools, whyNoGuest } from '#test/cluster/guest/image/find-guest-tools.ts';
import { inPayload } from '#test/cluster/guest/image/pack-payload.ts';
import { runInGuest } from '#test/cluster/guest/run/run-in-guest.ts';
import { EPISODE_KINDS } from './soak-episodes.ts';
import { HARD_MIB } from './soak-laws.ts';
import type { SoakReport } from './soak-main.ts';

const MAIN = new URL('./soak-main.ts', import.meta.url);
const MEMORY_MIB = 1536;
const EPISODES = process.env['PLIMSOLL_SOAK_EPISODES'] ?? '3';
const SEED = process.env['PLIMSOLL_SOAK_SEED'] ?? '20261122';
/** A busy machine takes minutes for what an idle one does in one. */
const START_MS = 360_000;
const EPISODE_MS = 120_000;
const TIMEOUT_MS = START_MS + Number(EPISODES) * EPISODE_MS;

const tools = findGuestTools();
const reason = whyNoGuest(tools);

describe.skipIf(reason !== undefined)(`episodes in a guest${reason ?? ` (${EPISODES} from the seed ${SEED})`}`, () => {
  let report: SoakReport;

  beforeAll(async () => {
    const env = { PLIMSOLL_SOAK_EPISODES: EPISODES, PLIMSOLL_SOAK_SEED: SEED };
    const program = { command: ['node', inPayload(MAIN)], env, memoryMiB: MEMORY_MIB, timeoutMs: TIMEOUT_MS };
    const { status, stdout, console: log } = await runInGuest(neededTools(tools), program);
    if (status !== 0) throw new Error(`the soak ended with ${status}: ${log.slice(-4000)}`);
    report = JSON.parse(stdout) as SoakReport;
    console.log(JSON.stringify(report, null, 1));
  }, TIMEOUT_MS + 20_000);

  test('no pod goes while memory can be had, none is killed that could have gone, every reason is true', () => {
    const broken = report.outcomes.filter((outcome) => outcome.broken.length > 0);
    expect(broken, `seed ${report.seed}`).toEqual([]);
    expect(report.outcomes).toHaveLength(Number(EPISODES));
  });

  test('memory runs out in the episodes that are meant to cost a pod', () => {
    const costly = report.outcomes.filter(({ kind }) => EPISODE_KINDS[kind]?.isCostly === true);
    expect(costly.filter(({ leastMiB }) => leastMiB >= HARD_MIB)).toEqual([]);
    expect(costly.length).toBeGreaterThan(0);
  });

  test('by the figure of the kubelet a pod goes while memory can be had, so that the law above is no matter of course', () => {
    expect(report.control.flatMap(({ broken }) => broken)).toContain('no pod goes while memory can be had');
  });
});
