import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at } from '#test/contract/harness.ts';
import { helm, whyNoHelm } from './support/helm.ts';
import { type PodCreates, startPodCreates } from './support/pod-creates.ts';
import { remainsOf } from './support/remains.ts';
import { runKubectl } from './support/run-kubectl.ts';

const CHART = fileURLToPath(new URL('../../../deploy/charts/plimsoll/', import.meta.url));
const RELEASE = ['plimsoll', '--namespace', 'plimsoll-system'];
const WITHIN_MS = 240_000;

const why = whyNoOwnCluster(process.env) ?? whyNoHelm(process.env);

describe.skipIf(why !== undefined)(`Plimsoll comes, is upgraded and goes with helm${why ?? ''}`, () => {
  const own = ownCluster();
  let creates: PodCreates;
  const kubectl = (...args: readonly string[]) => runKubectl(own().cluster.kubeconfig, args);

  beforeAll(() => {
    creates = startPodCreates(own().connection);
  });
  afterAll(() => creates.stop());

  async function run(
    verb: 'install' | 'upgrade' | 'rollback' | 'uninstall',
    ...flags: readonly string[]
  ): Promise<void> {
    const answer = await helm([verb, ...RELEASE, ...flags, '--kubeconfig', own().cluster.kubeconfig]);
    expect(answer).toMatchObject({ status: 0 });
  }

  test('installed, it reports and says what to do next', { timeout: WITHIN_MS }, async () => {
    await run('install', CHART, '--create-namespace');
    const daemonSet: unknown = JSON.parse(
      await kubectl('get', 'daemonset', 'plimsoll-agent', '-n', 'plimsoll-node', '-o', 'json'),
    );
    expect(at(daemonSet, 'spec.template.spec.containers.0.args')).not.toContain('--mode=Enforce');
    const policies = await kubectl('get', 'mutatingadmissionpolicies', '-o', 'name', '--ignore-not-found').catch(
      () => '',
    );
    expect(policies.includes('/defaults.plimsoll.dev')).toBe(servesMutatingPolicies(process.env));
    const notes = await helm(['get', 'notes', ...RELEASE, '--kubeconfig', own().cluster.kubeconfig]);
    expect(notes.stdout).toContain('evict no pod until a NodePressurePolicy says Enforce');
  });

  test('upgraded, it keeps what the webhook wrote', { timeout: WITHIN_MS }, async () => {
    const data = JSON.stringify({ data: { 'ca.crt': 'YQ==' } });
    const secret = ['secret', 'plimsoll-webhook-tls', '-n', 'plimsoll-system'];
    await kubectl('patch', ...secret, '--type=merge', '--field-manager=plimsoll-webhook', '-p', data);
    await run('upgrade', CHART, '--set', 'agent.mode=Enforce', '--set', 'flowSchema.enabled=true');
    expect(await kubectl('get', ...secret, '-o', 'jsonpath={.data}')).toBe('{"ca.crt":"YQ=="}');
    const args = await kubectl('get', 'daemonset', 'plimsoll-agent', '-n', 'plimsoll-node', '-o', 'jsonpath={..args}');
    expect(args).toContain('--mode=Enforce');
    await creates.expectNoneRefused();
  });

  test('rolled back, it is as it was installed, with what the webhook wrote', { timeout: WITHIN_MS }, async () => {
    await run('rollback', '1');
    const args = await kubectl('get', 'daemonset', 'plimsoll-agent', '-n', 'plimsoll-node', '-o', 'jsonpath={..args}');
    expect(args).not.toContain('--mode=Enforce');
    const secret = ['secret', 'plimsoll-webhook-tls', '-n', 'plimsoll-system'];
    expect(await kubectl('get', ...secret, '-o', 'jsonpath={.data}')).toBe('{"ca.crt":"YQ=="}');
    await creates.expectNoneRefused();
  });

  test('uninstalled, it leaves its definitions and the namespace that helm made', { timeout: WITHIN_MS }, async () => {
    await run('uninstall', '--wait');
    const { definitions, others } = await remainsOf(own().cluster.kubeconfig);
    // What Kubernetes itself puts into every namespace goes with the namespace.
    expect([definitions.length, others]).toEqual([12, ['namespace/plimsoll-system']]);
    await creates.expectNoneRefused();
  });
});
