import { ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { createObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { apiVersionOf, QUEUES, type Resource } from '#shared/kube/resource.ts';
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
import { SWITCHES, switchRows } from './show-switches.ts';

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
  return [kindOf(resource), resource.plural].flatMap((name) => [name, `${name}.${resource.group}`]);
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
    parent[last] = value;
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
    const found = await getObject(client, { resource: setting.resource, name: setting.name });
    const problem = found.kind === 'ok' || isMade(setting, found) ? undefined : found.message;
    if (problem === undefined && !(await maySet(setting, { found, options, io }))) {
      io.tell(NOT_CONFIRMED);
      io.exit(EXIT_REFUSED);
      return;
    }
    const refusal = problem ?? (await write(setting, { found, client, strategy: options.dryRun }));
    if (refusal === undefined) {
      io.print(printLine(set(labelOf(setting), options.dryRun)));
      return;
    }
    io.tell(printLine(cannotSet(labelOf(setting), refusal)).trimEnd());
    io.exit(EXIT_REFUSED);
  });
}

interface Question {
  readonly found: Outcome<KubeObject>;
  readonly options: SetOptions;
  readonly io: ProcessIo;
}

/** A dry run shows the change, and never asks. */
async function maySet(setting: SwitchSetting, { found, options, io }: Question): Promise<boolean> {
  const changes = changesOf(setting, found.kind === 'ok' ? found.object : undefined);
  if (options.dryRun !== 'none') {
    io.print(tableOf(changes));
    return true;
  }
  const acts = changes.some(([, from, to]) => from !== to && ACTING.includes(to));
  return !acts || options.yes || isConfirmed(tableOf(changes), io, QUESTION_SET);
}

/** The Queue `root` need not exist. */
function isMade({ resource }: SwitchSetting, found: Outcome<KubeObject>): boolean {
  return found.kind === 'notFound' && resource === QUEUES;
}

type SwitchChange = readonly [field: string, from: string, to: string];

function changesOf(
  { resource, defaults, values }: SwitchSetting,
  present: KubeObject | undefined,
): readonly SwitchChange[] {
  const rows = switchRows(resource, defaults, present === undefined ? [] : [present]);
  return Array.from(values, ([field, to]) => {
    const from = rows.find((row) => row.field === `spec.${field}`)?.value ?? defaults[field] ?? '';
    return [`spec.${field}`, from, to];
  });
}

function tableOf(changes: readonly SwitchChange[]): string {
  return formatTable(['FIELD', 'FROM', 'TO'], changes);
}

function labelOf({ resource, name }: SwitchSetting): string {
  return `${kindOf(resource)}.${resource.group}/${name}`;
}

interface Writing {
  readonly found: Outcome<KubeObject>;
  readonly client: KubeClient;
  readonly strategy: DryRunStrategy;
}

/** Why it was refused, if it was. */
async function write(setting: SwitchSetting, { found, client, strategy }: Writing): Promise<string | undefined> {
  const { resource, name } = setting;
  if (strategy === 'client') return undefined;
  const spec = specOf(setting.values);
  const options = { fieldManager: FIELD_MANAGER, dryRun: strategy === 'server' };
  const resourceVersion = found.kind === 'ok' ? found.object.metadata.resourceVersion : undefined;
  const made = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name }, spec };
  const outcome = isMade(setting, found)
    ? await createObject(client, { resource }, made, options)
    : await patchObject(
        client,
        { resource, name },
        { metadata: { resourceVersion }, spec },
        { ...options, type: 'merge' },
      );
  return outcome.kind === 'ok' ? undefined : outcome.message;
}
