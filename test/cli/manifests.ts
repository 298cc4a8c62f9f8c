/** Classes, a policy, a quota and a namespace that `PODS` are judged by. */
export const RULES = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: { name: high }
value: 1000
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: { name: low }
value: 100
preemptionPolicy: Never
---
apiVersion: plimsoll.dev/v1alpha1
kind: PriorityPolicy
metadata: { name: teams }
spec: { defaultPriorityClassName: low, allowedPriorityClassNames: [low, high] }
---
apiVersion: plimsoll.dev/v1alpha1
kind: PriorityPolicy
metadata: { name: developers }
spec: { subjects: [{ kind: Group, name: developers }], maxPriority: 500 }
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: high-pods, namespace: team-a }
spec:
  hard: { requests.cpu: 1 }
  scopeSelector: { matchExpressions: [{ scopeName: PriorityClass, operator: In, values: [high] }] }
`;

/** Two pods of which one fits, one that gets a default, one that is not judged, a template and a Service. */
export const PODS = `
apiVersion: v1
kind: Pod
metadata: { name: first, namespace: team-a }
spec: { priorityClassName: high, containers: [{ name: main, resources: { limits: { cpu: 600m } } }] }
---
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Pod
    metadata: { name: second, namespace: team-a }
    spec: { priorityClassName: high, containers: [{ name: main, resources: { limits: { cpu: 600m } } }] }
  - apiVersion: v1
    kind: Pod
    metadata: { generateName: batch- }
    spec: { containers: [{ name: main }] }
---
apiVersion: v1
kind: Pod
metadata: { name: dns, namespace: kube-system }
spec: { priorityClassName: system-cluster-critical, containers: [{ name: main }] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: api, namespace: team-a }
spec: { template: { spec: { priorityClassName: missing, containers: [{ name: main }] } } }
---
apiVersion: v1
kind: Service
metadata: { name: api }
`;

/** A pod with a class, in the namespace given, of 600m cpu. */
export function podManifest(name: string, namespace: string, priorityClassName: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { priorityClassName, containers: [{ name: 'main', resources: { requests: { cpu: '600m' } } }] },
  };
}
