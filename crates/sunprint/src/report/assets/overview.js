// Where the budget went, and how far whole rows are from the real ones.

function drawBudget(place) {
  const stages = page.privacy.stages.filter((stage) => stage.share > 0);
  if (!stages.length) return;
  const label =
    "Where the budget went: " +
    stages.map((stage) => isolated(stage.name) + " " + percent(stage.share)).join(", ") +
    ".";
  place.append(
    chart(label, stages.length * 40 + 8, (width) =>
      bars(
        width,
        stages.map((stage) => ({
          name: stage.name,
          value: stage.share,
          title: stage.name + ": " + percent(stage.share) + "\n" + shortened(stage.mechanism, 48),
        })),
        { format: percent, domain: [0, Math.min(1, Math.max(...stages.map((stage) => stage.share)) * 1.1)] },
      ),
    ),
  );
}

function drawDistances(place) {
  const { floor, synthetic, ceiling } = page.distances.distances;
  const row = (name, distance, look) => ({
    name,
    value: distance.w1,
    low: distance.interval ? distance.interval[0] : null,
    high: distance.interval ? distance.interval[1] : null,
    title:
      name +
      ": " +
      figure(distance.w1) +
      (distance.interval
        ? "\n95 % interval " + figure(distance.interval[0]) + " to " + figure(distance.interval[1])
        : ""),
    ...look,
  });
  const rows = [
    ...(floor ? [row("floor: real", floor, { outlined: true })] : []),
    row("synthetic", synthetic, {}),
    row("ceiling: noise", ceiling, { hatched: true }),
  ];
  const label =
    "W1 of whole rows: " + rows.map((one) => one.name + " " + figure(one.value)).join(", ") + ". Shorter is better.";
  place.append(
    chart(label, rows.length * 40 + 44, (width) =>
      bars(width, rows, { format: figure, label: "W1, shorter is better", ticks: figure }),
    ),
  );
}
