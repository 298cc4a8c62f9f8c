/** How many passes an agent with this health listener has run. */
export async function passesOf(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^plimsoll_agent_pass_duration_seconds_count(?:\{.*\})? (\d+)$/m.exec(metrics)?.[1]);
}
