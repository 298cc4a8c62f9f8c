import { createObject } from '#shared/kube/client/objects.ts';
import { PODS } from '#shared/kube/resource.ts';
import { letHogGrow, type HogTimes, waitForRelief } from './let-hog-grow.ts';
import type { PlannedPod, Scenario } from './plan-scenario.ts';
import { queueObjects } from './queue-objects.ts';
import { groundRules, podOf } from './scenario-objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { describe, type ScenarioPorts } from './scenario-ports.ts';
import { fillProcessors, findSpared, showPreemption } from './show-preemption.ts';
import { findSurvivors, startServices } from './services.ts';
import type { Happenings } from './verdict.ts';

/** Plays the scenario against the API server and prints it; resolves with the outcome. */
export async function runScenario(ports: ScenarioPorts, scenario: Scenario): Promise<Happenings> {
  await setGroundRules(ports);
  const services = await startServices(ports, scenario.services);
  await fillProcessors(ports, scenario.preemption);
  const refused = await tryRefused(ports, scenario.refused);
  const preempted = await showPreemption(ports, scenario.preemption);
  const shortage = await letHogGrow(ports, scenario.hog);
  if (shortage.evictedAt !== undefined) await waitForRelief(ports, scenario.hog);
  const survived = await findSurvivors(ports, services);
  ports.narrator.say(`Still running, never restarted: ${survived.join(', ') || 'none'}`);
  const spared = await findSpared(ports, scenario.preemption.optedOut);
  const evicted = evictions(ports);
  return { refused, preempted, spared, evicted, survived, secondsToEvict: secondsBetween(shortage) };
}

async function setGroundRules({ client, narrator }: ScenarioPorts): Promise<void> {
  for (const { resource, namespace, object } of groundRules()) {
    expectOk(await createObject(client, { resource, namespace }, object), 'set up the demo');
  }
  for (const { resource, namespace, object } of queueObjects()) {
    expectOk(await createObject(client, { resource, namespace }, object), 'set up the queues of the demo');
  }
  narrator.say(
    'Set up teams team-a and team-b, classes critical, standard, batch and long-jobs, and a quota on critical',
  );
  narrator.say('Set up the queues research and reports: some of their pods wait for room');
}

async function tryRefused({ client, narrator }: ScenarioPorts, planned: PlannedPod): Promise<Happenings['refused']> {
  const { namespace, name } = planned;
  narrator.say(`${describe(planned)}: asks for ${planned.requestMi}Mi, more than the quota of its team leaves`);
  const outcome = await createObject(client, { resource: PODS, namespace }, podOf(planned));
  if (outcome.kind === 'ok') {
    narrator.say(`${describe(planned)}: let in`);
    return [];
  }
  narrator.say(`${describe(planned)}: refused: ${outcome.message}`);
  return [{ pod: `${namespace}/${name}`, reason: outcome.message }];
}

/** From the agent's Events. */
function evictions({ shown }: ScenarioPorts): Happenings['evicted'] {
  const evicted = shown.filter(({ kind, reason }) => kind === 'Pod' && reason === 'Evicted');
  return evicted.map(({ name, note }) => ({ pod: name, because: note }));
}

function secondsBetween({ shortAt, evictedAt }: HogTimes): number | undefined {
  if (shortAt === undefined || evictedAt === undefined) return undefined;
  return Math.round(Math.max(0, evictedAt - shortAt)) / 1000;
}
