import { describe, expect, test } from 'vitest';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { summaryNode } from './summary-node.ts';
import { wirePod } from './wire-node.ts';

const WITHIN = 30_000;
/** Many passes: a threshold that may act does so in the second one. */
const QUIET_MS = 1500;
const enforce = (available: string, more: object = {}): object => ({
  mode: 'Enforce',
  evictionHard: { 'memory.available': available },
  ...more,
});
const pods = [wirePod({ name: 'hog', requestMiB: 100 })];
const TOO_HIGH = enforce('900Mi');
const HELD = { status: 'False', reason: 'MetOnArrival' };

describe('a threshold that a healthy node meets when it arrives', { timeout: 120_000 }, () => {
  const node = summaryNode();
  const { start, stop, setPolicy, asked, status, condition } = node;

  function isHeld(kept: string): Promise<void> {
    const message = expect.stringContaining(`until then memory.available < ${kept} for 0 s`) as string;
    return eventually(() => expect(condition('RulesConfirmed')).toMatchObject({ ...HELD, message }), WITHIN);
  }

  async function nobodyGoesAt(availableMiB: number): Promise<void> {
    node.availableMiB = availableMiB;
    await letTimePass(QUIET_MS, 'watched');
    expect(asked()).toEqual([]);
  }

  async function hogGoesAt(availableMiB: number): Promise<void> {
    node.availableMiB = availableMiB;
    await eventually(() => expect(asked()).toEqual(['hog']), WITHIN);
  }

  test('waits on a new node, where the default one stays in force', async () => {
    Object.assign(node, { availableMiB: 500, usageMiB: { hog: 600 } });
    await start({ pods, policy: TOO_HIGH });
    await isHeld('250Mi');
    await nobodyGoesAt(400);
    await hogGoesAt(200);
  });

  test('leaves its predecessor in force, over restarts and reboots, until a person confirms it', async () => {
    Object.assign(node, { availableMiB: 500, usageMiB: { hog: 600 } });
    await start({ pods, policy: enforce('150Mi') });
    await eventually(() => expect(condition('RulesConfirmed')).toMatchObject({ status: 'True' }), WITHIN);
    setPolicy(TOO_HIGH, { generation: 2 });
    await isHeld('150Mi');
    await nobodyGoesAt(200);

    const metadata = { generation: 2 };
    const restarted = { pods, policy: TOO_HIGH, metadata, status: status() };
    await stop();
    node.availableMiB = 200;
    await start(restarted);
    await isHeld('150Mi');
    await nobodyGoesAt(200);

    await stop();
    // A node that has just booted is empty, and meets nothing.
    node.availableMiB = 950;
    await start(restarted);
    await isHeld('150Mi');
    await nobodyGoesAt(950);
    await nobodyGoesAt(200);
    await hogGoesAt(100);
  });

  test('is held on a new, empty node while another node holds it', async () => {
    const rule = 'memory.available < 900Mi for 0 s reclaim nothing';
    const record = { rule, state: 'Held', generation: 1, since: '2026-01-01T00:00:00Z', nodes: ['n7'] };
    Object.assign(node, { availableMiB: 950, usageMiB: { hog: 600 } });
    await start({ pods, policy: TOO_HIGH, recorded: { thresholds: [record] } });
    const held = { status: 'False', reason: 'MetElsewhere', message: expect.stringContaining('on node n7') as string };
    await eventually(() => expect(condition('RulesConfirmed')).toMatchObject(held), WITHIN);
    expect(status()?.['rules']).toContainEqual(expect.objectContaining({ rule, confirmed: false, heldBy: 'Policy' }));
    await nobodyGoesAt(500);
    await eventually(() => expect(condition('RulesConfirmed')).toMatchObject(HELD), WITHIN);
    await hogGoesAt(200);
  });

  test('is taken back on an empty node that confirmed it before another node was heard', async () => {
    const rule = 'memory.available < 900Mi for 0 s reclaim nothing';
    const record = { rule, state: 'Held', generation: 2, since: '2026-01-01T00:00:00Z', nodes: ['n7'] };
    Object.assign(node, { availableMiB: 950, usageMiB: { hog: 600 } });
    await start({ pods, policy: enforce('150Mi') });
    const confirms = (id: string): Promise<void> => {
      const entry = expect.objectContaining({ rule: id, confirmed: true }) as object;
      return eventually(() => expect(status()?.['rules']).toContainEqual(entry), WITHIN);
    };
    await confirms('memory.available < 150Mi for 0 s reclaim nothing');
    setPolicy(TOO_HIGH, { generation: 2 });
    await confirms(rule);
    setPolicy(TOO_HIGH, { generation: 2 }, { thresholds: [record] });
    await eventually(() => expect(condition('RulesConfirmed')).toMatchObject({ reason: 'MetElsewhere' }), WITHIN);
    await nobodyGoesAt(200);
    await hogGoesAt(100);
  });

  test('is enforced once a person has confirmed it', async () => {
    Object.assign(node, { availableMiB: 500, usageMiB: { hog: 600 } });
    await start({ pods, policy: TOO_HIGH });
    await isHeld('250Mi');
    setPolicy(TOO_HIGH, { generation: 1, annotations: { 'plimsoll.dev/confirmed-generation': '1' } });
    await hogGoesAt(500);
  });

  test('is enforced once it has not been met for its transition period', async () => {
    Object.assign(node, { availableMiB: 500, usageMiB: { hog: 600 } });
    await start({ pods, policy: enforce('900Mi', { evictionPressureTransitionPeriod: '2s' }) });
    await isHeld('250Mi');
    await nobodyGoesAt(400);
    node.availableMiB = 950;
    await eventually(() => expect(condition('RulesConfirmed')).toMatchObject({ status: 'True' }), WITHIN);
    await hogGoesAt(500);
  });
});
