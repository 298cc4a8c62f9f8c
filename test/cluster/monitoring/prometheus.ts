import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { component } from '#test/cluster/support/control-plane/component.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { markedEnvironment } from '#test/cluster/support/run/leftovers.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';

/** What is scraped on loopback, with the labels that the PodMonitors give it. */
export interface ScrapeTarget {
  readonly job: string;
  readonly port: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** One series of an answer. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** An alerting rule as Prometheus evaluated it last. */
export interface EvaluatedAlert {
  readonly name: string;
  readonly health: 'ok' | 'err' | 'unknown';
  readonly lastError?: string;
  readonly state: 'inactive' | 'pending' | 'firing';
}

/** A real Prometheus with the alerts of deploy/alerts. */
export interface Prometheus {
  /** Asks for the present value; rejects with what Prometheus says about a query that it cannot answer. */
  query(promql: string): Promise<readonly Series[]>;
  alerts(): Promise<readonly EvaluatedAlert[]>;
  stop(): Promise<void>;
}

interface Answer<T> {
  readonly error?: string;
  readonly data?: T;
}

const ALERTS = fileURLToPath(new URL('../../../deploy/alerts/plimsoll.yaml', import.meta.url));

/** Starts it on loopback; it scrapes every two seconds, and ends with the run in whose folder its data are. */
export async function startPrometheus(runFolder: string, targets: readonly ScrapeTarget[]): Promise<Prometheus> {
  const folder = join(runFolder, 'prometheus');
  mkdirSync(folder);
  const [port = 0] = await freePorts(1);
  const configuration = join(folder, 'prometheus.json');
  writeFileSync(configuration, JSON.stringify(configurationOf(targets)));
  const address = `127.0.0.1:${port}`;
  const flags = [`--config.file=${configuration}`, `--storage.tsdb.path=${folder}`, `--web.listen-address=${address}`];
  const server = component('prometheus', flags, join(folder, 'log'), markedEnvironment(runFolder));
  server.start();
  const isReady = (): Promise<boolean> =>
    fetch(`http://${address}/-/ready`)
      .then(({ ok }) => ok)
      .catch(() => false);
  await waitUntil(isReady, { what: 'Prometheus', components: [['prometheus', server]] });
  return { ...questionsTo(`http://${address}/api/v1/`), stop: () => server.stop('SIGKILL') };
}

function configurationOf(targets: readonly ScrapeTarget[]): object {
  return {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '2s' },
    rule_files: [ALERTS],
    scrape_configs: targets.map(({ job, port, labels }) => ({
      job_name: job,
      static_configs: [{ targets: [`127.0.0.1:${port}`], labels }],
    })),
  };
}

function questionsTo(api: string): Pick<Prometheus, 'query' | 'alerts'> {
  return {
    query: async (promql) => {
      const search = new URLSearchParams({ query: promql }).toString();
      return (await ask<{ readonly result: readonly Series[] }>(`${api}query?${search}`)).result;
    },
    alerts: async () => {
      const { groups } = await ask<{ readonly groups: readonly { readonly rules: readonly EvaluatedAlert[] }[] }>(
        `${api}rules?type=alert`,
      );
      return groups.flatMap(({ rules }) => rules);
    },
  };
}

async function ask<T>(url: string): Promise<T> {
  const response = await fetch(url);
  const { error, data } = (await response.json()) as Answer<T>;
  if (data === undefined) throw new Error(`cannot answer ${url}: ${error ?? response.status}`);
  return data;
}
