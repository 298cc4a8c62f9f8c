import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { findBinaries } from '#test/cluster/support/control-plane/binaries.ts';
import { at } from '#test/contract/harness.ts';
import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';
import { builtManifests, nameOf } from './support/built-manifests.ts';
import { helm, whyNoHelm } from './support/helm.ts';

const CHART = `${writtenManifests()}chart/`;
const OTHER_NAMESPACES = ['namespaceOverride=team-infra', 'agent.namespaceOverride=team-agents'];
/** No name of an object or a dashboard. */
const USUAL_NAMESPACE = /plimsoll-system|plimsoll-node(?![-?s]|",$)/m;
const OF_HELM = ['app.kubernetes.io/managed-by', 'helm.sh/resource-policy'];

/** The values that give what an overlay gives. */
const OVERLAYS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  'overlays/enforce': ['agent.mode=Enforce'],
  'overlays/cert-manager': ['certManager.enabled=true'],
  'overlays/rules-only': ['rulesOnly.enabled=true'],
  'overlays/admission-both': ['admission=Both'],
  'overlays/admission-in-process': ['admission=InProcess'],
  'overlays/second-scheduler': ['scheduler.enabled=true', 'scheduler.kubeSchedulerImage=kube-scheduler'],
  'overlays/control-plane-extender': ['controlPlaneExtender.enabled=true'],
  'overlays/node-controller': ['nodeController.enabled=true'],
  'overlays/dashboard': ['dashboard.enabled=true'],
  'overlays/disruption-record': ['disruptions.enabled=true'],
  'overlays/queues': ['queues.enabled=true'],
  'overlays/rescheduling': ['rescheduling.enabled=true'],
  'overlays/without-agent': ['agent.enabled=false'],
  'overlays/high-availability': [],
  'overlays/everything': [
    ...['nodeController', 'controlPlaneExtender', 'scheduler', 'disruptions', 'queues', 'rescheduling', 'dashboard'],
    ...['flowSchema', 'networkPolicies'],
  ]
    .map((part) => `${part}.enabled=true`)
    .concat('scheduler.kubeSchedulerImage=kube-scheduler'),
  'overlays/monitoring': ['podMonitors.enabled=true', 'alerts.enabled=true', 'dashboards.enabled=true'],
};

const why = whyNoHelm(process.env);

describe.skipIf(why !== undefined)(`the Helm chart${why ?? ''}`, () => {
  beforeAll(() => {
    expect(findBinaries(process.env).kind).toBe('found');
  });

  test.each(Object.entries(OVERLAYS))('gives what kustomize makes of deploy/%s', async (folder, values) => {
    const answer = await helm([
      'template',
      'plimsoll',
      CHART,
      '--namespace',
      'default',
      '--skip-tests',
      '--api-versions',
      'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy',
      ...flagsOf(folder, values),
    ]);
    expect(answer).toMatchObject({ status: 0 });
    const rendered = parseAllDocuments(answer.stdout).map((document) => document.toJS() as unknown);
    const wanted = await builtManifests('/dev/null', folder);
    expect(byName(rendered)).toEqual(byName(wanted));
    const pods = rendered.filter((object) => at(object, 'spec.template.spec') !== undefined);
    expect(pods.filter((pod) => at(pod, 'spec.template.spec.enableServiceLinks') !== false)).toEqual([]);
  });

  test.each(Object.entries(OVERLAYS))('passes its own lint with the values of deploy/%s', async (folder, values) => {
    expect(await helm(['lint', '--strict', CHART, ...flagsOf(folder, values)])).toMatchObject({ status: 0 });
  });

  test('combines options that change the same object', async () => {
    const all = ['certManager.enabled=true', 'rulesOnly.enabled=true', 'agent.mode=Enforce', 'flowSchema.enabled=true'];
    const extra = ['webhook.extraArgs={--mode=DryRun}', 'image.repository=example.test/plimsoll', 'image.tag=1.2.3'];
    const { stdout } = await helm(['template', 'plimsoll', CHART, ...setFlags([...all, ...extra])]);
    const objects = byName(parseAllDocuments(stdout).map((document) => document.toJS() as unknown));
    const webhook = JSON.stringify(objects['Deployment plimsoll-system/plimsoll-webhook']);
    expect(webhook).toContain('"--tls-mode=cert-manager"');
    expect(webhook).toContain('"--mode=DryRun"');
    expect(webhook).toContain('"image":"example.test/plimsoll:1.2.3"');
    expect(objects['Secret plimsoll-system/plimsoll-webhook-tls']).toBeUndefined();
  });

  test('names the same objects in other namespaces, and tells each process of them', async () => {
    const all = ['--values', `${CHART}ci/every-value-values.yaml`, ...setFlags(['alerts.enabled=true'])];
    const usual = await helm(['template', 'plimsoll', CHART, ...all]);
    const other = await helm(['template', 'plimsoll', CHART, ...all, ...setFlags(OTHER_NAMESPACES)]);
    expect([usual.status, other.status, other.stdout]).toEqual([0, 0, expect.not.stringMatching(USUAL_NAMESPACE)]);
    const variables = / *- name: PLIMSOLL_(AGENT_)?NAMESPACE\n *value: .*\n/g;
    const containers = usual.stdout.match(/^ *image: .*plimsoll/gm)?.length;
    // The pod of `helm test` runs no process of ours.
    expect(other.stdout.match(variables)).toHaveLength(2 * (Number(containers) - 1));
    const renamed = other.stdout.replaceAll('team-infra', 'plimsoll-system').replaceAll('team-agents', 'plimsoll-node');
    expect(objectsIn(renamed.replace(variables, ''))).toEqual(objectsIn(usual.stdout));
  });

  test.each<[string, string, readonly string[], string]>([
    ['into kube-system', 'kube-system', [], 'use --namespace plimsoll-system --create-namespace'],
    [
      'without an image of kube-scheduler',
      'default',
      ['scheduler.enabled=true'],
      'scheduler.kubeSchedulerImage must name',
    ],
    [
      'into the namespace of others',
      'default',
      ['namespaceOverride=default'],
      'must name namespaces of Plimsoll alone',
    ],
    ['with its agents beside the rest', 'default', ['agent.namespaceOverride=plimsoll-system'], 'twice'],
    ['into what is no namespace', 'default', ['namespaceOverride=Team_Infra'], '/namespaceOverride'],
    ['with a mode that does not exist', 'default', ['agent.mode=Sometimes'], '/agent/mode'],
    ['with a misspelt value', 'default', ['webhook.replcas=3'], 'replcas'],
    ['in process where the API server cannot', 'default', ['admission=InProcess'], 'use Webhook'],
  ])('refuses to be installed %s, and says why', async (_, namespace, values, sentence) => {
    const { status, stderr } = await helm([
      'template',
      'plimsoll',
      CHART,
      '--namespace',
      namespace,
      ...setFlags(values),
    ]);
    expect([status, stderr]).toEqual([1, expect.stringContaining(sentence)]);
  });

  // Grafana's boards are the one part that only kustomize builds; the chart has them as files.
  test.each(Object.keys(OVERLAYS).filter((folder) => folder !== 'overlays/monitoring'))(
    'is made of what kubectl makes of deploy/%s',
    async (folder) => {
      expect(objectsByName(buildFolder(`deploy/${folder}`))).toEqual(
        objectsByName(await builtManifests('/dev/null', folder)),
      );
    },
  );

  test('cannot be installed before it is made', async () => {
    const { status, stderr } = await helm(['template', 'plimsoll', 'deploy/charts/plimsoll']);
    expect([status, stderr]).toEqual([1, expect.stringContaining('run npm run manifests, then use dist/chart')]);
  });
});

/** Of YAML, where a container without variables says nothing of them. */
function objectsIn(text: string): unknown {
  const objects = parseAllDocuments(text).map((document) => document.toJS() as unknown);
  return JSON.parse(JSON.stringify(objects, (key, value: unknown) => (key === 'env' ? (value ?? undefined) : value)));
}

function flagsOf(folder: string, values: readonly string[]): readonly string[] {
  const file = `${CHART}ci/${folder.replace('overlays/', '')}-values.yaml`;
  // What the API server serves cannot be taken from helm, only added.
  const unlessSaid = setFlags(['admission=Webhook']);
  return [...(existsSync(file) ? ['--values', file] : []), ...unlessSaid, ...setFlags(values)];
}

function setFlags(values: readonly string[]): readonly string[] {
  return values.flatMap((value) => ['--set', value]);
}

function objectsByName(objects: readonly unknown[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(objects.map((object) => [nameOf(object), inAnyOrder(object)]));
}

/** Kustomize puts what a patch adds to these lists first; neither order means anything. */
function inAnyOrder(object: unknown): unknown {
  const isFree = (key: string, value: unknown): value is readonly { readonly name: string }[] =>
    ['env', 'ports'].includes(key) && Array.isArray(value);
  const text = JSON.stringify(object, (key, value: unknown) =>
    isFree(key, value) ? value.toSorted((a, b) => (a.name < b.name ? -1 : 1)) : value,
  );
  return JSON.parse(text);
}

/** By name, without what Helm and kustomize say about themselves. */
function byName(objects: readonly unknown[]): Readonly<Record<string, unknown>> {
  const some = objects.filter((object) => object !== null && object !== undefined);
  return Object.fromEntries(some.map((object) => [nameOf(object), withoutTools(inAnyOrder(object))]));
}

function withoutTools(object: unknown): unknown {
  const { metadata, ...rest } = object as { readonly metadata: Readonly<Record<string, unknown>> };
  const { labels, annotations, ...others } = metadata;
  const [ownLabels, ownAnnotations] = [labels, annotations].map(withoutMarks);
  return {
    ...rest,
    metadata: {
      ...others,
      ...(ownLabels !== undefined && { labels: ownLabels }),
      ...(ownAnnotations !== undefined && { annotations: ownAnnotations }),
    },
  };
}

function withoutMarks(marks: unknown): Readonly<Record<string, unknown>> | undefined {
  const left = Object.entries(marks ?? {}).filter(([name]) => !OF_HELM.includes(name));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
