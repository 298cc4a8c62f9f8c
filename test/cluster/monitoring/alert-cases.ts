import { parse } from 'yaml';

/** What `promtool test rules` reads. */
interface AlertTests {
  readonly rule_files: readonly string[];
  readonly evaluation_interval: string;
  readonly tests: readonly AlertTest[];
}

export interface AlertTest {
  readonly name: string;
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly promql_expr_test: readonly Question[];
}

interface Question {
  readonly expr: string;
  readonly eval_time: string;
  readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
}

/** The cases of alerts.test.yaml, made into others. */
export function readAlertTests(text: string): AlertTests {
  return parse(text) as AlertTests;
}

/** The same in each of two clusters at once: none may add to what the other has, or hide it. */
export function inTwoClusters(test: AlertTest): AlertTest {
  return {
    ...test,
    input_series: test.input_series.flatMap(({ series, values }) =>
      CLUSTERS.map((cluster) => ({ series: labelled(series, cluster), values })),
    ),
    promql_expr_test: test.promql_expr_test.map((asked) => ({
      ...asked,
      exp_samples: asked.exp_samples.flatMap(({ labels, value }) =>
        CLUSTERS.map((cluster) => ({ labels: labelled(labels, cluster), value })),
      ),
    })),
  };
}

const CLUSTERS = ['one', 'two'];

function labelled(series: string, cluster: string): string {
  const [, name = series, labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
  return `${name}{${[`cluster="${cluster}"`, labels].filter((each) => each !== '').join(',')}}`;
}

/** Whether a case says itself what happens in which cluster. */
export function namesClusters({ input_series: series }: AlertTest): boolean {
  return series.some((each) => each.series.includes('cluster='));
}

/** Which alerts fire at these times, while the series are these; those to pass over are not asked about. */
export function firing(
  { name, interval = '1m', input_series }: Pick<AlertTest, 'name' | 'input_series'> & Partial<AlertTest>,
  times: readonly string[],
  alerts: readonly string[],
  passedOver: readonly string[] = [],
): AlertTest {
  const exp_samples = alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 }));
  const expr = `group by (alertname) (ALERTS{alertstate="firing",alertname!~"${passedOver.join('|')}"})`;
  return {
    name,
    interval,
    input_series,
    promql_expr_test: times.map((eval_time) => ({ expr, eval_time, exp_samples })),
  };
}

/** Each counter of the cases, high and still, then begun again by a new process. */
export function restartedCounters(tests: readonly AlertTest[]): AlertTest['input_series'] {
  const counters = tests
    .flatMap((each) => each.input_series.map(({ series }) => series))
    .filter((series) => /^\w+_(?:total|count|sum|bucket)\b/.test(series));
  return [...new Set(counters)].map((series) => ({ series, values: '1000x90 0x60' }));
}
