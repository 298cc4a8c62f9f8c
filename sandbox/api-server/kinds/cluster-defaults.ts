import { Buffer } from 'node:buffer';
import { fieldsOf, isFields, listAt, textAt, type Fields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { recordAt, setDefault } from '#sandbox/api-server/set-default.ts';

/** A namespace has its name as a label, and a finalizer that its deletion waits for. */
export function prepareNamespace(namespace: KubeObject): void {
  namespace.metadata.labels = { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': namespace.metadata.name };
  recordAt(namespace, 'spec')['finalizers'] = ['kubernetes'];
  fieldsOf(namespace)['status'] = { phase: 'Active' };
}

export function setNamespaceDefaults(namespace: KubeObject): void {
  if (namespace.metadata.name !== '') {
    namespace.metadata.labels = {
      ...namespace.metadata.labels,
      'kubernetes.io/metadata.name': namespace.metadata.name,
    };
  }
  recordAt(namespace, 'spec');
}

/** `stringData` is merged into `data`; it is never stored. */
export function setSecretDefaults(secret: KubeObject): void {
  const fields = fieldsOf(secret);
  setDefault(fields, 'type', 'Opaque');
  const texts = fields['stringData'];
  if (!isFields(texts)) return;
  const data = recordAt(secret, 'data');
  for (const [key, text] of Object.entries(texts)) data[key] = Buffer.from(String(text)).toString('base64');
  Reflect.deleteProperty(fields, 'stringData');
}

export function setServiceDefaults(service: KubeObject): void {
  const spec = recordAt(service, 'spec');
  setDefault(spec, 'type', 'ClusterIP');
  setDefault(spec, 'sessionAffinity', 'None');
  if (spec['type'] !== 'ExternalName') setDefault(spec, 'internalTrafficPolicy', 'Cluster');
  for (const port of listAt(spec, 'ports')) {
    setDefault(port, 'protocol', 'TCP');
    setDefault(port, 'targetPort', port['port']);
  }
  recordAt(service, 'status');
}

/** There is no proxy, so services are reachable only by their endpoints: they have no cluster IP. */
export function prepareService(service: KubeObject): void {
  const spec = recordAt(service, 'spec');
  if (spec['type'] === 'ExternalName') return;
  setDefault(spec, 'clusterIP', 'None');
  setDefault(spec, 'clusterIPs', [spec['clusterIP']]);
  setDefault(spec, 'ipFamilies', ['IPv4']);
  setDefault(spec, 'ipFamilyPolicy', 'SingleStack');
}

export function setPriorityClassDefaults(priorityClass: KubeObject): void {
  const fields = fieldsOf(priorityClass);
  setDefault(fields, 'value', 0);
  setDefault(fields, 'preemptionPolicy', 'PreemptLowerPriority');
}

/** `pkg/apis/admissionregistration/v1/defaults.go`. */
export function setWebhookDefaults(configuration: KubeObject): void {
  for (const webhook of listAt(configuration, 'webhooks')) {
    setDefault(webhook, 'failurePolicy', 'Fail');
    setDefault(webhook, 'matchPolicy', 'Equivalent');
    setDefault(webhook, 'namespaceSelector', {});
    setDefault(webhook, 'objectSelector', {});
    setDefault(webhook, 'timeoutSeconds', 10);
    if (configuration.kind === 'MutatingWebhookConfiguration') setDefault(webhook, 'reinvocationPolicy', 'Never');
    for (const rule of listAt(webhook, 'rules')) setDefault(rule, 'scope', '*');
    setServicePort(webhook['clientConfig']);
  }
}

/** `pkg/apis/admissionregistration/v1/defaults.go`. */
export function setAdmissionPolicyDefaults(policy: KubeObject): void {
  const spec = recordAt(policy, 'spec');
  setDefault(spec, 'failurePolicy', 'Fail');
  setMatchDefaults(recordAt(spec, 'matchConstraints'));
}

export function setPolicyBindingDefaults(binding: KubeObject): void {
  const match = recordAt(binding, 'spec')['matchResources'];
  if (isFields(match)) setMatchDefaults(match);
}

function setMatchDefaults(match: Fields): void {
  setDefault(match, 'matchPolicy', 'Equivalent');
  setDefault(match, 'namespaceSelector', {});
  setDefault(match, 'objectSelector', {});
  for (const rule of listAt(match, 'resourceRules')) setDefault(rule, 'scope', '*');
}

function setServicePort(clientConfig: unknown): void {
  const service = isFields(clientConfig) ? clientConfig['service'] : undefined;
  if (isFields(service)) setDefault(service, 'port', 443);
}

/** `pkg/apis/rbac/v1/defaults.go`. */
export function setRoleBindingDefaults(binding: KubeObject): void {
  setDefault(recordAt(binding, 'roleRef'), 'apiGroup', 'rbac.authorization.k8s.io');
  for (const subject of listAt(binding, 'subjects')) setSubjectDefaults(subject);
}

function setSubjectDefaults(subject: Fields): void {
  if (textAt(subject, 'kind') !== 'ServiceAccount') setDefault(subject, 'apiGroup', 'rbac.authorization.k8s.io');
}
