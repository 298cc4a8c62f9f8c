import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURE_POLICIES } from '#shared/kube/resource.ts';
import { API_VERSION } from '#shared/kube/api-names.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { startTestSandbox } from '#test/build/test-sandbox.ts';

describe('the tables of thresholds of a NodePressurePolicy', () => {
  let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
  beforeAll(async () => {
    sandbox = await startTestSandbox();
  });
  afterAll(() => sandbox.stop());

  const create = (spec: object) =>
    createObject(
      sandbox.client,
      { resource: NODE_PRESSURE_POLICIES },
      { apiVersion: API_VERSION, kind: NODE_PRESSURE_POLICIES.kind, metadata: { generateName: 'rule-' }, spec },
    );

  test.each([
    ['evictionHard', 'memory.avail', '10Mi'],
    ['evictionHard', 'cpu.available', '1'],
    ['evictionHard', 'Memory.available', '1Gi'],
    ['evictionSoftGracePeriod', 'memory.avail', '10s'],
    ['evictionMinimumReclaim', 'memory.avail', '10Mi'],
    ['evictionHardMode', 'memory.avail', 'DryRun'],
    ['evictionSoftMode', 'memory.pressure', 'DryRun'],
  ])('%s refuses the unknown signal %s', async (table, signal, value) => {
    const refused = await create({ [table]: { [signal]: value } });
    expect(refused).toMatchObject({ kind: 'invalid' });
    expect(JSON.stringify(refused)).toContain(`${table}: unknown signal`);
  });

  test.each(['110%', '100.1%', '-1%', '1O%', '%', '0', '0Mi', '-1Gi', '1 Gi', '250MB', 'NaN%', ''])(
    'an amount of "%s" is refused with its field, as the agent cannot use it',
    async (amount) => {
      const refused = await create({ evictionHard: { 'memory.available': amount } });
      expect(refused).toMatchObject({ kind: 'invalid' });
      expect(JSON.stringify(refused)).toContain('spec.evictionHard.memory');
      if (amount !== 'NaN%')
        expect(parseThresholds({ evictionHard: { 'memory.available': amount } })).toMatchObject({ ok: false });
    },
  );

  test.each(['0%', '5%', '7.5%', '100%', '250Mi', '1.5Gi', '1e9', '.5Gi', '300M', '104857600'])(
    'an amount of %s is taken, and the agent can use it',
    async (amount) => {
      const evictionHard = { 'memory.available': amount };
      expect(await create({ evictionHard })).toMatchObject({ kind: 'ok' });
      expect(parseThresholds({ evictionHard })).toMatchObject({ ok: true });
    },
  );

  test.each([
    [{ evictionMinimumReclaim: { 'memory.available': '-1Mi' } }, 'spec.evictionMinimumReclaim'],
    [{ minimumRelief: '110%' }, 'spec.minimumRelief'],
  ])('%j is refused with its field', async (spec, field) => {
    const refused = await create(spec);
    expect(refused).toMatchObject({ kind: 'invalid' });
    expect(JSON.stringify(refused)).toContain(field);
  });

  test('nothing need be reclaimed in addition', async () => {
    expect(await create({ evictionMinimumReclaim: { 'nodefs.inodesFree': '0' } })).toMatchObject({ kind: 'ok' });
  });
});
