import { kubectl } from '#test/cluster/kubectl.ts';
import { rounded } from './quantile.ts';
import type { Counts } from './counts.ts';

const BUCKET = /^apiserver_admission_webhook_admission_duration_seconds_bucket\{(?<labels>[^}]*)\} (?<count>\d+)$/gm;
/** The least bound of that histogram, in seconds; every call counts below the greatest. */
const [LEAST, ALL] = ['0.005', '+Inf'];

/** How many calls of each webhook the API server has made for creates, by `PHASE NAME BOUND`: its own measure, connection and all. */
export async function apiServerCalls(kubeconfig: string): Promise<Counts> {
  const { status, stdout, stderr } = await kubectl(kubeconfig, ['get', '--raw', '/metrics']);
  if (status !== 0) throw new Error(`cannot read the metrics of the API server: ${stderr}`);
  const counts = new Map<string, number>();
  for (const { groups } of stdout.matchAll(BUCKET)) {
    const { name, type, operation, rejected, le } = labelsOf(groups?.['labels'] ?? '');
    if (operation === 'CREATE' && rejected === 'false') counts.set(`${type} ${name} ${le}`, Number(groups?.['count']));
  }
  return Object.fromEntries(counts);
}

/** Which share of the calls of each webhook took at most 5 ms. */
export function shareWithin5Ms(calls: Counts): Counts {
  const made = Object.entries(calls).filter(([name, count]) => name.endsWith(` ${ALL}`) && count > 0);
  return Object.fromEntries(
    made.map(([key, count]) => {
      const name = key.slice(0, -ALL.length - 1);
      return [name, rounded((calls[`${name} ${LEAST}`] ?? 0) / count)];
    }),
  );
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
}
