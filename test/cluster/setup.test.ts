import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { contractHarness } from '#test/contract/harness.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';
import { clusterTarget, hasCluster } from './support/control-plane/cluster-target.ts';
import { firstLine } from './support/first-line.ts';
import { killableRun } from './support/run/killable-run.ts';
import { setup } from './setup.ts';
import { eventually } from '#test/build/waiting.ts';

const CONFIGURATIONS = [
  `${ADMISSION}/mutatingwebhookconfigurations`,
  `${ADMISSION}/validatingwebhookconfigurations`,
] as const;

describe('what the tests run on', () => {
  const provided: unknown[] = [];
  const project = {
    provide: (key: string, value: unknown) => void provided.push([key, value]),
    vitest: { state: { getTestModules: () => [] } },
  };
  afterEach(() => {
    provided.length = 0;
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  describe.skipIf(!hasCluster())('if PLIMSOLL_TEST_KUBECONFIG is set', () => {
    const kubeconfig = inject('kubeconfig');
    const api = contractHarness(clusterTarget());
    beforeEach(() => void vi.stubEnv('PLIMSOLL_TEST_KUBECONFIG', kubeconfig));

    test('on the cluster that it names', async () => {
      const close = await setup(project);
      expect(provided).toEqual([
        ['kubeconfig', kubeconfig],
        ['runFolder', expect.stringMatching(/^\/.*\/plimsoll-cluster-/)],
      ]);
      await close();
    });

    test('and no webhook stays registered there when the run is killed', async () => {
      const run = killableRun({ existing: kubeconfig });
      const runner = spawn(process.execPath, run, { stdio: ['ignore', 'pipe', 'inherit'] });
      await firstLine(runner.stdout);
      for (const path of CONFIGURATIONS) await api.post(path, { metadata: { name: 'plimsoll' } });
      runner.kill('SIGKILL');
      await eventually(async () => {
        const left = await Promise.all(CONFIGURATIONS.map((path) => api.get(`${path}/plimsoll`)));
        expect(left.map(({ status }) => status)).toEqual([404, 404]);
      });
    });

    test('on none where Plimsoll is installed', async () => {
      const [, path] = CONFIGURATIONS;
      await api.post(path, { metadata: { name: 'plimsoll' } });
      await expect(setup(project)).rejects.toThrow(
        `cannot test on the cluster of ${kubeconfig}: Plimsoll is installed there`,
      );
      await api.remove(`${path}/plimsoll`);
    });
  });

  test('on nothing when programs are missing, and that is said', async () => {
    vi.stubEnv('PLIMSOLL_TEST_KUBECONFIG', undefined);
    vi.stubEnv('CI', undefined);
    vi.stubEnv('KUBEBUILDER_ASSETS', '/nowhere');
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await (
      await setup(project)
    )();
    expect(provided).toEqual([
      ['kubeconfig', ''],
      ['runFolder', ''],
    ]);
    expect(said.mock.calls).toEqual([
      [expect.stringMatching(/^\nnot run: tests on a real Kubernetes, because no etcd, .* in \/nowhere\n\n$/)],
    ]);
  });

  test('missing programs are a failure where CI is set', async () => {
    vi.stubEnv('PLIMSOLL_TEST_KUBECONFIG', undefined);
    vi.stubEnv('CI', 'true');
    vi.stubEnv('KUBEBUILDER_ASSETS', '/nowhere');
    await expect(setup(project)).rejects.toThrow(/^no real Kubernetes: no etcd, .* in \/nowhere$/);
    expect(provided).toEqual([]);
  });
});
