import { parse, stringify } from 'yaml';

/** The rule file as an object for the Prometheus Operator. */
export function prometheusRule(alerts: string): string {
  const { groups } = parse(alerts) as { readonly groups: readonly unknown[] };
  const object = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: {
      name: 'plimsoll',
      namespace: 'plimsoll-system',
      labels: { 'app.kubernetes.io/name': 'plimsoll', 'app.kubernetes.io/part-of': 'plimsoll' },
    },
    spec: { groups },
  };
  return `# Generated from deploy/alerts/plimsoll.yaml by: npm run generate\n${stringify(object, { lineWidth: 0 })}`;
}
