import { expect, inject } from 'vitest';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { pod, type Harness, uniqueName } from '#test/contract/harness.ts';
import { type ClusterObjects, POLICIES } from '#test/cluster/admission/support/cluster-objects.ts';
import { goldenSection } from '#test/cluster/admission/support/golden-section.ts';
import { plainNames } from '#test/cluster/admission/support/plain-names.ts';
import { BY_COMPILED_RULES } from '#test/cluster/admission/support/rules-in-force.ts';
import { eventually } from '#test/build/waiting.ts';

/** A policy of a namespace of its own, and the pod of a person who does not know it. */
export interface PrintedCase {
  readonly policy: object;
  readonly pod: object;
  /** A class that the API server prints of its own accord is not refused by our rules. */
  readonly isKubernetes?: boolean;
}

const GOLDEN = new URL('golden/in-process.txt', import.meta.url);
const PATIENCE_MS = 30_000;

/** What kubectl prints about each case, under headings. */
export async function printed(
  api: Harness,
  objects: ClusterObjects,
  cases: Readonly<Record<string, PrintedCase>>,
): Promise<string> {
  const sections: string[] = [];
  for (const [what, each] of Object.entries(cases))
    sections.push(`# ${what}\n${goldenSection(GOLDEN, what) ?? (await printedOf(api, objects, each))}`);
  return sections.join('\n');
}

async function printedOf(api: Harness, objects: ClusterObjects, each: PrintedCase): Promise<string> {
  const namespace = uniqueName('team');
  await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const policy = await objects.policy('policy', { namespaceSelector, ...each.policy });
  const args = ['create', '--dry-run=server', `--namespace=${namespace}`, '--filename=-', '--output=yaml'];
  const said = await eventually(async () => {
    const { stdout, stderr } = await kubectl(inject('kubeconfig'), args, JSON.stringify(each.pod));
    if (each.isKubernetes !== true) expect(stderr).toContain(BY_COMPILED_RULES);
    return stderr + stdout;
  }, PATIENCE_MS);
  await api.remove(`${POLICIES}/${policy}`);
  await api.remove(`/api/v1/namespaces/${namespace}`);
  return plainNames(said);
}

/** The pods of a person who wants one of these classes. */
export function printedCases(high: string, low: string, lowNever: string): Readonly<Record<string, PrintedCase>> {
  const web = (spec: object = {}, more: object = {}): object => ({ ...pod('web', spec), ...more });
  return {
    'a class above the ceiling of a policy': { policy: { maxPriority: 500 }, pod: web({ priorityClassName: high }) },
    'a class that a policy does not list': {
      policy: { allowedPriorityClassNames: [low, lowNever] },
      pod: web({ priorityClassName: high }),
    },
    'no class, where none is given': { policy: { allowedPriorityClassNames: [low] }, pod: web() },
    'a class that preempts where preemption is forbidden': {
      policy: { preemption: 'Never' },
      pod: web({ priorityClassName: high }),
    },
    'a default that the policy itself does not allow': {
      policy: { defaultPriorityClassName: low, maxPriority: -2_000 },
      pod: web(),
    },
    'a class without the quota that it needs': {
      policy: { requireQuotaFor: [high] },
      pod: web({ priorityClassName: high }),
    },
    'a forged QoS class': { policy: { maxPriority: 500 }, pod: web({}, { status: { qosClass: 'Guaranteed' } }) },
    'a number that is not the number of the class': {
      policy: { maxPriority: 500 },
      pod: web({ priorityClassName: low, priority: 7 }),
      isKubernetes: true,
    },
    'a class that does not exist': {
      policy: { maxPriority: 500 },
      pod: web({ priorityClassName: 'missing' }),
      isKubernetes: true,
    },
  };
}
