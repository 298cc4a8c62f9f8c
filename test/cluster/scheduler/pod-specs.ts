/** The path of a pod, or of all pods of a namespace. */
export function podPath(namespace = 'default', name?: string): string {
  return `/api/v1/namespaces/${namespace}/pods${name === undefined ? '' : `/${name}`}`;
}

/** A spec that requests so much CPU. */
export function asking(cpu: string): object {
  return { containers: [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu } } }] };
}

/** A spec that only these nodes satisfy. */
export function onlyOn(...names: readonly string[]): object {
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: names }];
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
}
