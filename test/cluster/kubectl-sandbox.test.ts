import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { pod, uniqueName } from '#test/contract/harness.ts';
import { runningApiServer } from '#test/sandbox/api-server/running-api-server.ts';
import { hasCluster } from './support/control-plane/cluster-target.ts';
import { kubectl } from './support/control-plane/kubectl.ts';
import { eventually } from '#test/build/waiting.ts';

const NAMESPACE = uniqueName('kubectl');

interface Step {
  readonly args: readonly string[];
  /** Its standard input. */
  readonly object?: object;
}

function step(command: string, object?: object): Step {
  return { args: command.split(' '), ...(object !== undefined && { object }) };
}

/** No account's token, for the sandbox mounts none. */
function podWith(labels: Readonly<Record<string, string>>, more: object = {}): object {
  return pod('a', { automountServiceAccountToken: false, ...more }, { labels });
}

const OTHER_IMAGE = { containers: [{ name: 'main', image: 'registry.test/idle:2', nonsense: 1 }] };
const LABEL_BY_JSON = `[{"op":"add","path":"/metadata/labels/json","value":"1"}]`;

/** What people do with pods, quotas, classes and workloads; no step depends on how quickly something happens. */
const SCRIPT: readonly Step[] = [
  step('apply -f -', podWith({ app: 'a' })),
  step('apply -f -', podWith({ app: 'a' })),
  step('diff -f -', podWith({ app: 'b' })),
  step('apply -f -', podWith({ app: 'b' })),
  step('apply --server-side -f -', podWith({ app: 'c' })),
  step('apply --server-side --field-manager=other -f -', podWith({ app: 'd' })),
  step('apply --server-side --field-manager=other --force-conflicts -f -', podWith({ app: 'd' })),
  step('create -f -', podWith({})),
  step('create -f -', podWith({}, OTHER_IMAGE)),
  step('get pods'),
  step('get pods -o wide --show-labels'),
  step('get pods -o name'),
  step('get pods --field-selector=status.phase=Pending -o name'),
  step('get pods --field-selector=spec.unknown=1'),
  step('get pods -l app=d -o jsonpath={.items[*].status.qosClass}'),
  step('label pod a team=x'),
  step('label pod a team=y'),
  step('label pod a team=y --overwrite'),
  step('annotate pod a note=hello'),
  step('patch pod a -p {"metadata":{"labels":{"strategic":"1"}}}'),
  step('patch pod a --type=merge -p {"metadata":{"labels":{"strategic":null}}}'),
  { args: ['patch', 'pod', 'a', '--type=json', '-p', LABEL_BY_JSON] },
  step('describe pod a'),
  step('wait --for=jsonpath={.status.phase}=Pending pod/a --timeout=20s'),
  step('wait --for=condition=Ready pod/a --timeout=1s'),
  step('auth can-i create pods'),
  step('create quota q --hard=pods=3'),
  step('wait --for=jsonpath={.status.used.pods}=1 resourcequota/q --timeout=20s'),
  step('get resourcequota q'),
  step('describe quota q'),
  step(`create priorityclass ${NAMESPACE} --value=1000`),
  step(`get priorityclass ${NAMESPACE}`),
  step(`patch priorityclass ${NAMESPACE} -p {"value":7}`),
  step(`delete priorityclass ${NAMESPACE}`),
  step('create deployment d --image=idle --replicas=0'),
  step('scale deployment d --replicas=0 --current-replicas=1'),
  step('set image deployment/d idle=idle:2'),
  step('get deployment d'),
  step('get replicasets --no-headers -o custom-columns=DESIRED:.spec.replicas'),
  step('get pod missing'),
  step('get nonsense'),
  step('logs missing'),
  step('explain pod.spec.nonsense'),
  step('api-resources --api-group=scheduling.k8s.io'),
  step('delete pod a --wait --timeout=20s'),
  step('delete deployment d --wait --timeout=20s'),
  step(`delete namespace ${NAMESPACE} --wait --timeout=60s`),
  step('get pods'),
];

const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000)?/g, 'TIME'],
  [/\b(LIVE|MERGED)-\d+/g, '$1'],
  [/resourceVersion: "\d+"/g, 'resourceVersion: N'],
  [/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UID'],
  // An age, right-justified or followed by other columns.
  [/\s+\b(\d+[smh])+\b/g, ' AGE'],
];

async function transcript(kubeconfig: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { args, object } of SCRIPT) {
    const said = await kubectl(kubeconfig, ['-n', NAMESPACE, ...args], object && JSON.stringify(object));
    const text = CHANGING.reduce((text, [what, name]) => text.replaceAll(what, name), said.stdout + said.stderr);
    lines.push(`$ kubectl ${args.join(' ')}\n${text}exit ${said.status}`);
  }
  return lines;
}

async function makeNamespace(kubeconfig: string): Promise<void> {
  expect(await kubectl(kubeconfig, ['create', 'namespace', NAMESPACE])).toMatchObject({ status: 0 });
}

/** The account that every pod has, and that a controller of Kubernetes makes. */
async function accountThere(kubeconfig: string): Promise<void> {
  const account = ['-n', NAMESPACE, 'get', 'serviceaccount', 'default'];
  await eventually(async () => expect((await kubectl(kubeconfig, account)).status).toBe(0));
}

describe.skipIf(!hasCluster())('kubectl', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-kubectl-'));
  const sandboxConfig = join(folder, 'kubeconfig');
  const server = runningApiServer();

  beforeAll(() => writeFileSync(sandboxConfig, server().kubeconfig(), { mode: 0o600 }));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('says the same about the sandbox as about Kubernetes', { timeout: 120_000 }, async () => {
    const kubeconfig = inject('kubeconfig');
    await Promise.all([sandboxConfig, kubeconfig].map(makeNamespace));
    await accountThere(kubeconfig);
    const [sandbox, real] = await Promise.all([sandboxConfig, kubeconfig].map(transcript));
    expect(sandbox).toEqual(real);
  });
});
