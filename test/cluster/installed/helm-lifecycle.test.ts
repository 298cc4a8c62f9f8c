import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servesMutatingPolicies } from '#test/cluster/support/control-plane/binaries.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { at } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import { wireServer } from '#test/fakes/wire-server.ts';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { helm, whyNoHelm } from './support/helm.ts';
import { type PodCreates, startPodCreates } from './support/pod-creates.ts';
import { remainsOf } from './support/remains.ts';
import { runKubectl } from './support/run-kubectl.ts';

const CHART = `${writtenManifests()}chart/`;
const RELEASE = ['plimsoll', '--namespace', 'plimsoll-system'];
const PARTS = [
  ...['nodeController', 'controlPlaneExtender', 'disruptions', 'queues', 'rescheduling', 'dashboard'],
  ...['flowSchema', 'networkPolicies'],
];
/** By controllers, and by helm for each revision. */
const MADE_BY_OTHERS = /^(?:pod\/|replicaset|controllerrevision|endpoint|secret\/sh\.helm)/;
/** Of a part that had a Deployment and an account of its own; without pods, which no node would run. */
const FORMER = `apiVersion: v1
kind: ServiceAccount
metadata: { name: plimsoll-queues, namespace: plimsoll-system }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: plimsoll-queues, namespace: plimsoll-system }
spec:
  replicas: 0
  selector: { matchLabels: { app: former } }
  template:
    metadata: { labels: { app: former } }
    spec: { containers: [{ name: former, image: plimsoll }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: not-marked, namespace: plimsoll-system }
`;
const WITHIN_MS = 240_000;

const why = whyNoOwnCluster(process.env) ?? whyNoHelm(process.env);

describe.skipIf(why !== undefined)(`Plimsoll comes, is upgraded and goes with helm${why ?? ''}`, () => {
  const own = ownCluster();
  let creates: PodCreates;
  /** What there is with every part off. */
  let base: readonly string[] = [];
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

  const objects = async (): Promise<readonly string[]> =>
    (await remainsOf(own().cluster.kubeconfig)).others.filter((name) => !MADE_BY_OTHERS.test(name));

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
    base = await objects();
  });

  test('what an earlier chart had leads on through the upgrade, if it is marked', { timeout: WITHIN_MS }, async () => {
    const former = join(own().cluster.folder, 'former');
    cpSync(CHART, former, { recursive: true });
    writeFileSync(join(former, 'templates/former.yaml'), FORMER);
    await run('upgrade', former);
    const [kinds, one] = ['deployment,serviceaccount', ['plimsoll-queues', '-n', 'plimsoll-system']] as const;
    await kubectl('annotate', kinds, ...one, 'helm.sh/resource-policy=keep');
    await run('upgrade', CHART);
    expect((await kubectl('get', kinds, ...one, '-o', 'name')).trim().split('\n')).toEqual([
      'deployment.apps/plimsoll-queues',
      'serviceaccount/plimsoll-queues',
    ]);
    expect(await kubectl('get', 'configmap', 'not-marked', '-n', 'plimsoll-system', '--ignore-not-found')).toBe('');
    await kubectl('delete', kinds, ...one);
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

  test('upgraded to many values at once, it is accepted, every field of it', { timeout: WITHIN_MS }, async () => {
    await run('upgrade', CHART, '--values', `${CHART}ci/every-value-values.yaml`);
    const webhook: unknown = JSON.parse(
      await kubectl('get', 'deployment', 'plimsoll-webhook', '-n', 'plimsoll-system', '-o', 'json'),
    );
    const pod = at(webhook, 'spec.template.spec');
    expect(at(pod, 'containers.0.image')).toMatch(/^registry\.example\.com\/mirrors\/plimsoll@sha256:/);
    expect(at(pod, 'containers.0.command')).toContain('--max-old-space-size=784');
    expect(pod).toMatchObject({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' });
    expect(at(webhook, 'metadata.labels')).toMatchObject({ team: 'platform' });
    await creates.expectNoneRefused();
  });

  test('with every part on and off again, nothing of a part stays', { timeout: WITHIN_MS }, async () => {
    await run('upgrade', CHART, '--reset-values', ...PARTS.flatMap((part) => ['--set', `${part}.enabled=true`]));
    expect((await objects()).length).toBeGreaterThan(base.length + 60);
    await run('upgrade', CHART, '--reset-values');
    expect(await objects()).toEqual(base);
    await creates.expectNoneRefused();
  });

  test('tested with `helm test`, it is asked whether the webhook answers', { timeout: WITHIN_MS }, async () => {
    const pod = ['pod', 'plimsoll-test-webhook-answers', '-n', 'plimsoll-system'];
    const testing = helm(['test', ...RELEASE, '--timeout', '100s', '--kubeconfig', own().cluster.kubeconfig]);
    const created = await eventually(() => kubectl('get', ...pod, '-o', 'json'), 60_000);
    // No kubelet runs pods here.
    const done = JSON.stringify({ status: { phase: 'Succeeded' } });
    await kubectl('patch', ...pod, '--subresource=status', '--type=merge', '-p', done);
    expect(await testing).toMatchObject({ status: 0 });
    const command = at(JSON.parse(created), 'spec.containers.0.command') as readonly string[];
    expect(await askedOf(command, 404)).toEqual([0, expect.stringContaining('HTTP 404')]);
    expect(await askedOf(command, 503)).toEqual([1, expect.stringContaining('HTTP 503')]);
    expect(await asked(command, 'https://127.0.0.1:1')).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
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
    expect([definitions.length, others]).toEqual([13, ['namespace/plimsoll-system']]);
    await creates.expectNoneRefused();
  });
});

/** Runs what the pod of `helm test` runs, against a server that answers so. */
async function askedOf(command: readonly string[], status: number): Promise<readonly [number | null, string]> {
  const validity = { days: 1, now: Date.now() };
  const authority = createAuthority({ commonName: 'test', ...validity });
  const server = await wireServer(
    (_, response) => response.writeHead(status).end(),
    issueServerCertificate(authority, { dnsNames: ['localhost'], ipAddresses: [], ...validity }),
  );
  const answer = await asked(command, server.url);
  await server.close();
  return answer;
}

async function asked([, ...args]: readonly string[], url: string): Promise<readonly [number | null, string]> {
  const child = spawn(process.execPath, args, { env: { ...process.env, WEBHOOK_URL: url } });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, [status]] = await Promise.all([text(child.stdout), closed]);
  return [status, stdout];
}
