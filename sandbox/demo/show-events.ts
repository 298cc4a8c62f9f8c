import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector } from '#shared/kube/reflector/reflector.ts';
import { EVENTS } from '#shared/kube/resource.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Narrator } from '#sandbox/narrator.ts';

/** An Event as the story needs it. */
export interface ShownEvent {
  readonly reason: string;
  readonly note: string;
  /** `Pod team-a/web`, or `Node sandbox`. */
  readonly about: string;
  readonly kind: string;
  readonly name: string;
}

/** Events that a newcomer should see; the others are visible with `kubectl get events`. */
const SHOWN = new Set<string>([...Object.values(EVENT_REASONS), 'FailedCreate', 'OOMKilling', 'SystemOOM']);

/** Prints each such Event as it happens, and forwards it. Runs until the signal aborts. */
export function showEvents(
  { client, clock, log, narrator }: { client: KubeClient; clock: Clock; log: Log; narrator: Narrator },
  onShown: (event: ShownEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const reflector = createReflector({ client, clock, log, resource: EVENTS, slim: readEvent, random: Math.random });
  reflector.onChange(({ kind, value }) => {
    if (kind !== 'added' || !SHOWN.has(value.reason)) return;
    narrator.say(`${value.about}: ${value.reason}: ${value.note}`);
    onShown(value);
  });
  return reflector.run(signal);
}

function readEvent(raw: KubeObject): ShownEvent {
  const { kind = '', namespace, name = '' } = (raw['regarding'] ?? {}) as Readonly<Record<string, string | undefined>>;
  const fullName = namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
  return {
    reason: textOf(raw['reason']),
    note: textOf(raw['note']).trim(),
    about: `${kind} ${fullName}`,
    kind,
    name: fullName,
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
