import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { rounded } from '#bench/shared/support/quantile.ts';
import type { Counts } from './counts.ts';

const BUCKET =
  /^(?:apiserver_admission_webhook_admission|plimsoll_webhook_request)_duration_seconds_bucket\{(?<labels>[^}]*)\} (?<count>\d+)$/gm;
/** A bound of both histograms, in seconds; every call counts below the largest. */
const [BOUND, ALL] = ['0.005', '+Inf'];

/** The calls of each webhook for creates as the API server measures them, connection and all. */
export async function apiServerCalls(kubeconfig: string): Promise<Counts> {
  const { status, stdout, stderr } = await kubectl(kubeconfig, ['get', '--raw', '/metrics']);
  if (status !== 0) throw new Error(`cannot read the metrics of the API server: ${stderr}`);
  return callsOf(stdout, ({ type, name, rejected }) => (rejected === 'false' ? `${type} ${name}` : undefined));
}

/** The same as the webhook measures them, from the first byte to the decision. */
export function webhookCalls(metrics: string): Counts {
  return callsOf(metrics, ({ webhook, allowed }) => (allowed === 'true' ? webhook : undefined));
}

type MetricLabels = Readonly<Record<string, string>>;

/** How many calls there were, by `NAME BOUND`. */
function callsOf(metrics: string, nameOf: (labels: MetricLabels) => string | undefined): Counts {
  const counts = new Map<string, number>();
  for (const { groups } of metrics.matchAll(BUCKET)) {
    const labels = labelsOf(groups?.['labels'] ?? '');
    const name = labels['operation'] === 'CREATE' ? nameOf(labels) : undefined;
    if (name !== undefined) counts.set(`${name} ${labels['le']}`, Number(groups?.['count']));
  }
  return Object.fromEntries(counts);
}

/** Which share of the calls of each webhook took at most 5 ms. */
export function shareWithin5Ms(calls: Counts): Counts {
  const made = Object.entries(calls).filter(([name, count]) => name.endsWith(` ${ALL}`) && count > 0);
  return Object.fromEntries(
    made.map(([key, count]) => {
      const name = key.slice(0, -ALL.length - 1);
      return [name, rounded((calls[`${name} ${BOUND}`] ?? 0) / count)];
    }),
  );
}

function labelsOf(text: string): MetricLabels {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
}
