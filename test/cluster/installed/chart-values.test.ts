import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { at } from '#test/contract/harness.ts';
import { chartSettings } from '#test/deploy/chart-settings.ts';
import { nameOf } from './support/built-manifests.ts';
import { CHART_CASES } from './support/chart-cases.ts';
import { helm, whyNoHelm } from './support/helm.ts';

const CHART = `${writtenManifests()}chart/`;
const HEAP = /^--max-old-space-size=(\d+)$/;

const why = whyNoHelm(process.env);

describe.skipIf(why !== undefined)(`the values of the Helm chart${why ?? ''}`, () => {
  test('are all in the table below', () => {
    const covered = CHART_CASES.map(({ set }) => set.slice(0, set.indexOf('=')));
    expect(chartSettings().filter((path) => !covered.includes(path))).toEqual([]);
  });

  test.each(CHART_CASES)('$set is in $object', async ({ set, object, at: path, wanted, with: others = [] }) => {
    const objects = await rendered([...others, set]);
    const found = objects.find((each) => nameOf(each) === object);
    expect(found).toBeDefined();
    if (path === undefined) return;
    expect(at(found, path)).toEqual(wanted);
  });

  test.each<[string, string, number]>([
    ['the default', '"352Mi"', 112],
    ['a larger limit, of which all that is added is heap', '"1Gi"', 784],
    ['a limit in decimal units', '"1G"', 713],
    ['a limit without a unit', '1073741824', 784],
    ['a smaller limit, of which the heap keeps its share', '"176Mi"', 56],
  ])('size the heap of the webhook for %s', async (_, limit, mebibytes) => {
    const objects = await rendered([`webhook.resources.limits.memory=${limit}`]);
    const webhook = objects.find((each) => nameOf(each) === 'Deployment plimsoll-system/plimsoll-webhook');
    const command = at(webhook, 'spec.template.spec.containers.0.command') as readonly string[];
    expect(command.flatMap((word) => HEAP.exec(word)?.slice(1) ?? [])).toEqual([String(mebibytes)]);
  });

  test.each([
    ['a memory limit that is no quantity', 'webhook.resources.limits.memory="much"', 'expected a quantity'],
    ['the port of the kubelet', 'webhook.hostNetwork=true', 'set webhook.securePort'],
    ['a misspelt key of a component', 'webhook.replcas=3', '/webhook/replcas'],
    ['a misspelt key of an account', 'agent.serviceAccount.label={}', 'label'],
    [
      'a label that selects pods',
      'commonLabels={"app.kubernetes.io/name":"x"}',
      '/commonLabels/app.kubernetes.io~1name',
    ],
    ['a shortened digest', 'image.digest="sha256:abc"', '/image/digest'],
    ['an issuer of another kind', 'certManager.issuerRef.kind="Vault"', '/certManager/issuerRef/kind'],
    ['a size between those of the table', 'clusterSize=2000', '/clusterSize'],
    ['the former mode of avoid lists', 'nodeController.avoidance="Enforce"', 'avoidance'],
  ])('refuse %s, and name it', async (_, set, named) => {
    const { status, stderr } = await template([set]);
    expect([status, stderr]).toEqual([1, expect.stringContaining(named)]);
  });

  test.each([
    ['v1.35.9', 'cannot enable queues: the API server has version v1.35.9'],
    ['v1.36.0', undefined],
    ['v1.36.3-gke.100', undefined],
  ])('queues on %s', async (version, refusal) => {
    const { status, stderr } = await template(['queues.enabled=true'], ['--kube-version', version]);
    expect([status, stderr]).toEqual(refusal === undefined ? [0, ''] : [1, expect.stringContaining(refusal)]);
  });

  test.each([
    [
      '',
      ['Certificate plimsoll-ca', 'Certificate plimsoll-webhook', 'Issuer plimsoll-ca', 'Issuer plimsoll-self-signed'],
    ],
    ['company', ['Certificate plimsoll-webhook']],
  ])('with the issuer "%s", cert-manager makes no authority that nothing uses', async (issuer, wanted) => {
    const objects = await rendered(['certManager.enabled=true', `certManager.issuerRef.name="${issuer}"`]);
    const made = objects.map((each) => `${String(at(each, 'kind'))} ${String(at(each, 'metadata.name'))}`);
    expect(made.filter((each) => /^(?:Certificate|Issuer) /.test(each)).toSorted()).toEqual(wanted);
  });

  test.each([true, false])('a parent chart with the condition plimsoll.enabled=%s', async (isOn) => {
    const parent = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
    const condition = 'condition: plimsoll.enabled';
    const dependency = `dependencies:\n  - { name: plimsoll, version: '*', repository: '', ${condition} }\n`;
    writeFileSync(join(parent, 'Chart.yaml'), `apiVersion: v2\nname: parent\nversion: 1.0.0\n${dependency}`);
    cpSync(CHART, join(parent, 'charts/plimsoll'), { recursive: true });
    const values = [`plimsoll.enabled=${isOn}`, 'global.imageRegistry="mirror.test"'];
    const { status, stdout, stderr } = await template(values, [], parent);
    rmSync(parent, { recursive: true });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout.includes('image: mirror.test/plimsoll:')).toBe(isOn);
  });

  test('leave to Kubernetes what is its own, and what is global to parent charts', async () => {
    const affinity = '{"nodeAffinity":{"newer":{"field":1}}}';
    expect(await template([`webhook.affinity=${affinity}`, 'global={"any":{"key":1}}'])).toMatchObject({ status: 0 });
  });
});

async function rendered(values: readonly string[]): Promise<readonly unknown[]> {
  const { status, stdout, stderr } = await template(values);
  expect([status, stderr]).toEqual([0, '']);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as unknown)
    .filter((object) => object !== null && object !== undefined);
}

function template(values: readonly string[], flags: readonly string[] = [], chart = CHART): ReturnType<typeof helm> {
  return helm([
    'template',
    'plimsoll',
    chart,
    '--namespace',
    'default',
    '--api-versions',
    'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy',
    ...flags,
    ...values.flatMap((value) => ['--set-json', value]),
  ]);
}
