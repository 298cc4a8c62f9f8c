import { ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { createObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { apiVersionOf, kindLabel, QUEUES, type Resource, resourceLabel } from '#shared/kube/resource.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { formatTable, printable, printLine } from '#cli/output/table.ts';
import { type DryRunStrategy, InputError, type ProcessIo } from '#cli/process-io.ts';
import {
  cannotSet,
  NOT_CONFIRMED,
  QUESTION_SET,
  set,
  target,
  unknownField,
  unknownObject,
  unreadableSetting,
} from './messages.ts';
import { FIELD_MANAGER } from './plan-mode.ts';
import { isConfirmed } from './run-mode.ts';
import { ONE_OBJECT, SWITCHES, switchRows } from './show-switches.ts';

export interface SetOptions extends ClusterOptions {
  readonly dryRun: DryRunStrategy;
  readonly yes: boolean;
}

/** Switches of one object, with the values to set. */
export interface SwitchSetting {
  readonly resource: Resource;
  readonly name: string;
  /** By field below `spec`. */
  readonly values: ReadonlyMap<string, string>;
  /** What holds where the object does not say it, of all its switches. */
  readonly defaults: Readonly<Record<string, string>>;
}

/** Reads `nodepressurepolicy/batch avoidance.mode=Enforce`. Throws an InputError that says what is accepted. */
export function readSetting(object: string, settings: readonly string[]): SwitchSetting {
  const [kind = '', name = '', ...rest] = object.split('/');
  const found = SWITCHES.find(([resource]) => namesOf(resource).includes(kind.toLowerCase()));
  const isOther = found?.[0] === QUEUES && name !== ROOT_QUEUE;
  if (found === undefined || isOther || name === '' || rest.length > 0)
    throw new InputError(unknownObject(object, objectForms()));
  const [resource, defaults] = found;
  return { resource, name, defaults, values: new Map(settings.map((each) => readValue(each, defaults))) };
}

function objectForms(): readonly string[] {
  return SWITCHES.map(([resource]) => `${kindOf(resource)}/${resource === QUEUES ? ROOT_QUEUE : 'NAME'}`);
}

function namesOf(resource: Resource): readonly string[] {
  return [kindOf(resource), kindLabel(resource), resource.plural, resourceLabel(resource)];
}

function kindOf({ kind }: Resource): string {
  return kind.toLowerCase();
}

function readValue(setting: string, fields: SwitchSetting['defaults']): readonly [string, string] {
  const at = setting.indexOf('=');
  const field = setting.slice(0, at).replace(/^spec\./, '');
  const value = setting.slice(at + 1);
  if (at < 0 || value === '') throw new InputError(unreadableSetting(setting));
  if (!Object.hasOwn(fields, field)) throw new InputError(unknownField(field, Object.keys(fields)));
  return [field, value];
}

/** Nested as in an object: `{avoidance: {mode: 'Enforce'}}`. */
export function specOf(values: SwitchSetting['values']): object {
  const spec: Record<string, unknown> = {};
  for (const [field, value] of values) {
    const path = field.split('.');
    const last = path.pop() ?? '';
    let parent = spec;
    for (const key of path) parent = (parent[key] ??= {}) as Record<string, unknown>;
    parent[last] = /^\d+$/.test(value) ? Number(value) : value;
  }
  return spec;
}

const EXIT_REFUSED = 1;
/** By these values a part acts on pods or refuses requests. */
const ACTING: readonly string[] = ['Enforce', 'Deny'];

/** Carries out `plimsoll mode set`: exit code 1 if the API server refuses it, or the user does not confirm. */
export async function runSetSwitches(
  object: string,
  settings: readonly string[],
  options: SetOptions,
  io: ProcessIo,
): Promise<void> {
  const setting = readSetting(object, settings);
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  await withCluster(options, async ({ client, server, origin }) => {
    io.tell(printable(target(server, origin)));
    const refusal = await change(setting, client, options, io);
    if (refusal === undefined) {
      io.print(printLine(set(labelOf(setting), options.dryRun)));
      return;
    }
    io.tell(printLine(refusal).trimEnd());
    io.exit(EXIT_REFUSED);
  });
}

/** Resolves to why nothing was changed, if so. */
async function change(
  setting: SwitchSetting,
  client: KubeClient,
  options: SetOptions,
  io: ProcessIo,
): Promise<string | undefined> {
  const { resource, name } = setting;
  const found = await getObject(client, { resource, name });
  const present = found.kind === 'ok' ? found.object : undefined;
  const isMade = found.kind === 'notFound' && ONE_OBJECT.get(resource) === name;
  if (found.kind !== 'ok' && !isMade) return cannotSet(labelOf(setting), found.message);
  if (!(await maySet(changesOf(setting, present), options, io))) return NOT_CONFIRMED;
  if (options.dryRun === 'client') return undefined;
  const written = await write(setting, present, client, options.dryRun === 'server');
  return written.kind === 'ok' ? undefined : cannotSet(labelOf(setting), written.message);
}

/** A dry run shows the change, and never asks. */
async function maySet(changes: readonly SwitchChange[], { dryRun, yes }: SetOptions, io: ProcessIo): Promise<boolean> {
  const table = formatTable(['FIELD', 'FROM', 'TO'], changes);
  if (dryRun !== 'none') {
    io.print(table);
    return true;
  }
  const acts = changes.some(([, from, to]) => from !== to && ACTING.includes(to));
  return !acts || yes || isConfirmed(table, io, QUESTION_SET);
}

type SwitchChange = readonly [field: string, from: string, to: string];

function changesOf(
  { resource, defaults, values }: SwitchSetting,
  present: KubeObject | undefined,
): readonly SwitchChange[] {
  const rows = switchRows(resource, defaults, present === undefined ? [] : [present]);
  return Array.from(values, ([field, to]) => {
    const from = rows.find((row) => row.field === `spec.${field}`)?.value ?? '';
    return [`spec.${field}`, from, to];
  });
}

function labelOf({ resource, name }: SwitchSetting): string {
  return `${kindLabel(resource)}/${name}`;
}

/** Creates the object where there is none. */
function write(
  { resource, name, values }: SwitchSetting,
  present: KubeObject | undefined,
  client: KubeClient,
  dryRun: boolean,
): Promise<Outcome<KubeObject>> {
  const spec = specOf(values);
  const options = { fieldManager: FIELD_MANAGER, dryRun };
  if (present === undefined) {
    const made = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name }, spec };
    return createObject(client, { resource }, made, options);
  }
  const patch = { metadata: { resourceVersion: present.metadata.resourceVersion }, spec };
  return patchObject(client, { resource, name }, patch, { ...options, type: 'merge' });
}
