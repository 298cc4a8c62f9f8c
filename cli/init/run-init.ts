import type { KubeClient } from '#shared/kube/client/client.ts';
import { createObject, listObjects } from '#shared/kube/client/objects.ts';
import { kindLabel } from '#shared/kube/resource.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { formatYaml } from '#cli/output/answer.ts';
import { printable, printLine } from '#cli/output/table.ts';
import type { DryRunStrategy, ProcessIo } from '#cli/process-io.ts';
import { FIRST_DAY, type FirstDayObject, standsAlone } from './first-day.ts';
import { cannotCreate, created, exists, NEXT, notServed, othersExist } from './messages.ts';

export interface InitOptions extends ClusterOptions {
  /** Otherwise the objects are printed. */
  readonly apply: boolean;
  readonly dryRun: DryRunStrategy;
}

const EXIT_REFUSED = 1;

/** Carries out `plimsoll init`: exit code 1 if an object is refused. What exists is never changed. */
export async function runInit(options: InitOptions, io: ProcessIo): Promise<void> {
  if (!options.apply) {
    const documents = await Promise.all(FIRST_DAY.map(({ object }) => formatYaml(object)));
    io.print(documents.join('---\n'));
    return;
  }
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  await withCluster(options, async ({ client, server }) => {
    io.tell(printable(server));
    for (const each of FIRST_DAY) {
      const { text, isRefused } = await place(each, client, options.dryRun);
      if (isRefused) {
        io.tell(printLine(text).trimEnd());
        io.exit(EXIT_REFUSED);
      } else io.print(printLine(text));
    }
    io.tell(NEXT);
  });
}

interface Placed {
  readonly text: string;
  readonly isRefused: boolean;
}

const said = (text: string, isRefused = false): Placed => ({ text, isRefused });

async function place(wanted: FirstDayObject, client: KubeClient, strategy: DryRunStrategy): Promise<Placed> {
  const { resource, object } = wanted;
  const { name } = object.metadata;
  const label = `${kindLabel(resource)}/${name}`;
  const listed = await listObjects(client, { resource });
  if (listed.kind === 'notFound') return said(notServed(label));
  if (listed.kind !== 'ok') return said(cannotCreate(label, listed.message), true);
  const names = listed.object.items.map(({ metadata }) => metadata.name ?? '');
  if (names.includes(name)) return said(exists(label));
  if (standsAlone(wanted) && names.length > 0) return said(othersExist(label, names));
  if (strategy === 'client') return said(created(label, strategy));
  const outcome = await createObject(client, { resource }, object, {
    fieldManager: 'plimsoll-init',
    dryRun: strategy === 'server',
  });
  if (outcome.kind === 'alreadyExists') return said(exists(label));
  return outcome.kind === 'ok' ? said(created(label, strategy)) : said(cannotCreate(label, outcome.message), true);
}
