import { windowText } from '#shared/api/disruption-limit.ts';
import { DEFAULT_RETENTION } from '#shared/domain/disruption/disruption.ts';
import { DEFAULT_RECLAIM, reclaimInForce } from '#shared/domain/queue/reclaim-settings.ts';
import { ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { DISRUPTION_POLICY } from '#shared/kube/api-names.ts';
import { NO_SPARE } from '#shared/domain/spare/spare-settings.ts';
import { fieldOf, isRecord } from '#shared/kube/decode/wire-object.ts';
import {
  DISRUPTION_POLICIES,
  NODE_PRESSURE_POLICIES,
  PRIORITY_POLICIES,
  QUEUES,
  RESCHEDULING_POLICIES,
  type Resource,
} from '#shared/kube/resource.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { listAll } from '#cli/cluster/list-all.ts';
import { nameOf } from '#cli/manifests/parse-manifests.ts';
import { formatAnswer, listDocument } from '#cli/output/answer.ts';
import type { OutputFormat } from '#cli/output/output-option.ts';
import { formatTable } from '#cli/output/table.ts';
import type { ProcessIo } from '#cli/process-io.ts';

/** The fields by which an operator lets a part act or bounds it, with what holds where they are absent. */
export const SWITCHES: readonly (readonly [Resource, Readonly<Record<string, string>>])[] = [
  [
    NODE_PRESSURE_POLICIES,
    {
      mode: 'DryRun',
      'avoidance.mode': 'DryRun',
      'taints.mode': 'DryRun',
      'cpu.mode': 'DryRun',
      'spare.mode': NO_SPARE.mode,
    },
  ],
  [QUEUES, Object.fromEntries(Object.entries(DEFAULT_RECLAIM).map(([field, value]) => [`reclaim.${field}`, value]))],
  [RESCHEDULING_POLICIES, { mode: 'DryRun' }],
  [PRIORITY_POLICIES, { onViolation: 'Deny' }],
  [
    DISRUPTION_POLICIES,
    {
      forbiddingBudgets: 'Show',
      'retention.period': windowText(DEFAULT_RETENTION.keepMs),
      'retention.perNamespace': String(DEFAULT_RETENTION.perNamespace),
      'retention.total': String(DEFAULT_RETENTION.total),
    },
  ],
];

/** One switch of one object. */
export interface SwitchRow {
  readonly object: string;
  readonly field: string;
  readonly value: string;
  /** No object, or one that does not say it. */
  readonly isDefault: boolean;
  /** What the object says where that is not in force. */
  readonly written?: string;
}

/** What is in force where the fields alone do not say it. */
function fieldsInForce({ kind }: Resource, object: object): Readonly<Record<string, string>> {
  const spec = fieldOf(object, 'spec');
  // Capped where the queue root says what cannot be read.
  const reclaim = () => Object.entries(reclaimInForce(fieldOf(spec, 'reclaim')));
  if (kind === QUEUES.kind) return Object.fromEntries(reclaim().map(([field, value]) => [`reclaim.${field}`, value]));
  // Whatever a policy says of spare room has it measured.
  const isMeasured = kind === NODE_PRESSURE_POLICIES.kind && isRecord(fieldOf(spec, 'spare'));
  return isMeasured && fieldOf(fieldOf(spec, 'spare'), 'mode') === undefined ? { 'spare.mode': 'DryRun' } : {};
}

/** Kinds of which one object has the switches, which hold also where there is no such object. */
export const ONE_OBJECT: ReadonlyMap<Resource, string> = new Map([
  [QUEUES, ROOT_QUEUE],
  [DISRUPTION_POLICIES, DISRUPTION_POLICY],
]);

/** The switches of the objects of a kind. */
export function switchRows(
  resource: Resource,
  fields: Readonly<Record<string, string>>,
  objects: readonly object[],
): readonly SwitchRow[] {
  const only = ONE_OBJECT.get(resource);
  const named = objects.filter((each) => fieldOf(fieldOf(each, 'metadata'), 'name') === only);
  const shown = only === undefined ? objects : named.length > 0 ? named : [{ metadata: { name: only } }];
  return shown.flatMap((object) => {
    const name = String(fieldOf(fieldOf(object, 'metadata'), 'name'));
    const inForce = fieldsInForce(resource, object);
    return Object.entries(fields).map(([field, usual]) => {
      const found = field.split('.').reduce<unknown>(fieldOf, fieldOf(object, 'spec'));
      const written = typeof found === 'number' ? String(found) : found;
      const isDefault = typeof written !== 'string' || written === '';
      const value = inForce[field] ?? (isDefault ? usual : written);
      return {
        object: `${resource.kind.toLowerCase()}/${name}`,
        field: `spec.${field}`,
        value,
        isDefault,
        ...(!isDefault && written !== value && { written }),
      };
    });
  });
}

/** Carries out `plimsoll mode show`. */
export async function runShowSwitches(
  options: ClusterOptions & { readonly output: OutputFormat },
  io: ProcessIo,
): Promise<void> {
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  await withCluster(options, async ({ client }) => {
    const lists = await Promise.all(
      SWITCHES.map(async ([resource, fields]) => {
        const found = await listAll(client, resource);
        const byName = found.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
        return switchRows(
          resource,
          fields,
          byName.map(({ raw }) => raw),
        );
      }),
    );
    const rows = lists.flat();
    const cells = rows.map(({ object, field, value, isDefault, written }) => {
      const more = isDefault ? ' (default)' : written === undefined ? '' : ` (written: ${written})`;
      return [object, field, `${value}${more}`];
    });
    const answer = {
      document: listDocument('Switch', rows),
      table: () => formatTable(['OBJECT', 'FIELD', 'VALUE'], cells),
    };
    io.print(await formatAnswer(answer, options.output));
  });
}
