import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createObject, listObjects } from '#shared/kube/client/objects.ts';
import { DEPLOYMENTS, PODS } from '#shared/kube/resource.ts';
import type { PlannedPod } from './plan-scenario.ts';
import { hasRestarted, isLeaving, isReady, describe, poll, type ScenarioPorts } from './scenario-ports.ts';
import { deploymentOf } from './scenario-objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';

/** A service with the pod that it started with: only that one counts as having survived. */
export interface StartedService {
  readonly planned: PlannedPod;
  readonly podUid: string;
}

const START_DEADLINE_MS = 15_000;
/** What a process needs in addition to the memory it holds. */
const PROCESS_MI = 10;

/** Starts all and waits until each pod is ready. */
export async function startServices(
  ports: ScenarioPorts,
  planned: readonly PlannedPod[],
): Promise<readonly StartedService[]> {
  for (const each of planned) {
    const { namespace, requestMi, holdsMi } = each;
    const created = await createObject(ports.client, { resource: DEPLOYMENTS, namespace }, deploymentOf(each));
    expectOk(created, `start ${each.name}`);
    ports.narrator.say(
      `${describe(each)}: asks for ${requestMi}Mi of memory, will use about ${holdsMi + PROCESS_MI}Mi`,
    );
  }
  return Promise.all(planned.map((each) => waitForService(ports, each)));
}

async function waitForService(ports: ScenarioPorts, planned: PlannedPod): Promise<StartedService> {
  const pod = await poll(ports, START_DEADLINE_MS, async () => (await podsOf(ports, planned)).find(isReady));
  if (pod === undefined) throw new Error(`cannot start ${planned.namespace}/${planned.name}: its pod is not ready`);
  return { planned, podUid: pod.metadata.uid ?? '' };
}

async function podsOf({ client }: ScenarioPorts, { namespace, name }: PlannedPod): Promise<readonly KubeObject[]> {
  const listed = await listObjects(client, { resource: PODS, namespace }, { labelSelector: `app=${name}` });
  return listed.kind === 'ok' ? listed.object.items : [];
}

/** `namespace/name` of the services whose first pod still runs, never restarted. */
export async function findSurvivors(
  ports: ScenarioPorts,
  services: readonly StartedService[],
): Promise<readonly string[]> {
  const checked = await Promise.all(
    services.map(async (service) => ((await hasSurvived(ports, service)) ? [service.planned] : [])),
  );
  return checked.flat().map(({ namespace, name }) => `${namespace}/${name}`);
}

async function hasSurvived(ports: ScenarioPorts, { planned, podUid }: StartedService): Promise<boolean> {
  const pod = (await podsOf(ports, planned)).find(({ metadata }) => metadata.uid === podUid);
  return pod !== undefined && isReady(pod) && !isLeaving(pod) && !hasRestarted(pod);
}
