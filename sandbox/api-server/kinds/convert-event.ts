import { fieldsOf, type Fields, type KubeObject } from '#sandbox/api-server/wire/object.ts';

/** Names of the same field in core/v1, where Events are stored, and in events.k8s.io/v1. */
const RENAMED: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];

const TO_CORE = new Map(RENAMED.map(([core, events]) => [events, core]));
const TO_EVENTS = new Map(RENAMED);

/** An Event of events.k8s.io/v1 as core/v1 has it. `pkg/apis/core/v1/conversion.go`. */
export function eventToStorage(event: KubeObject): KubeObject {
  return renamed(event, TO_CORE, 'v1');
}

/** A stored Event as events.k8s.io/v1 has it. */
export function eventFromStorage(event: KubeObject): KubeObject {
  return renamed(event, TO_EVENTS, 'events.k8s.io/v1');
}

function renamed(event: KubeObject, names: ReadonlyMap<string, string>, apiVersion: string): KubeObject {
  const result: Fields = {};
  for (const [name, value] of Object.entries(fieldsOf(event))) result[names.get(name) ?? name] = value;
  result['apiVersion'] = apiVersion;
  return result as unknown as KubeObject;
}
