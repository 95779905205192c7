"use strict";
// Looks up predictions in the table that Python made (whatif.py), and shows them.

function seconds(value) {
  return value.toFixed(3) + " s";
}

function short(value) {
  if (value > 0 && value < 0.001) return "less than 1 ms";
  return String(Number(value.toPrecision(3))) + " s";
}

// The texts of the page for two stops, by the ids of their elements.
function shown(model, rtt, rate) {
  const point = model.points[rtt][rate];
  const [least, likely, most] = point.seconds;
  const [messages, collectives, bytes] = point.waits;
  return {
    "rtt-text": model.rtts[rtt].text,
    "rate-text": model.rates[rate].text,
    likely: seconds(likely),
    bounds: `(${least.toFixed(3)} to ${most.toFixed(3)}), for ${seconds(model.profiled)} in the profile`,
    judgement: model.judgements[point.judgement],
    times: point.times,
    messages: short(messages),
    collectives: short(collectives),
    bytes: short(bytes),
    command: `--link rtt=${model.rtts[rtt].text},rate=${model.rates[rate].text}`.replaceAll(" ", "")
      .replace("--link", "--link "),
  };
}

// The marks of an axis of logarithms: powers of ten, and 2 and 5 if these are few.
function marks(low, high) {
  const digits = high / low > 300 ? [1] : [1, 2, 5];
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
    for (const digit of digits) {
      const value = Number(`${digit}e${power}`);
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  return found;
}

// The markup of the chart. All of it is made of numbers.
function curve(model, rtt, rate) {
  const [left, right, top, bottom] = [52, 346, 8, 184];
  const points = model.points.map((row) => row[rate].seconds.map((value) => Math.max(value, 1e-6)));
  const all = model.points.flat().flatMap((point) => point.seconds).concat(model.profiled);
  const low = Math.max(1e-6, Math.min(...all)) / 1.2;
  const high = Math.max(low * 2, Math.max(...all) * 1.2);
  const times = model.rtts.map((stop) => stop.seconds);
  const [first, last] = [times[0], times[times.length - 1]];
  const along = (value) => left + ((right - left) * Math.log(value / first)) / Math.log(last / first);
  const up = (value) =>
    bottom - ((bottom - top) * Math.log(Math.max(value, low) / low)) / Math.log(high / low);
  const line = (which) =>
    points.map((point, index) => `${along(times[index]).toFixed(1)},${up(point[which]).toFixed(1)}`);
  const parts = [];
  for (const value of marks(low, high)) {
    const y = up(value).toFixed(1);
    parts.push(`<path class="mark" d="M${left} ${y}H${right}"/>`);
    parts.push(`<text x="${left - 5}" y="${Number(y) + 4}" text-anchor="end">${value}</text>`);
  }
  for (const value of [1e-4, 1e-3, 1e-2, 1e-1, 1]) {
    const text = value < 1 ? `${value * 1e3} ms` : "1 s";
    parts.push(`<text x="${along(value).toFixed(1)}" y="${bottom + 16}" text-anchor="middle">${text}</text>`);
  }
  parts.push(`<polygon class="band" points="${line(0).concat(line(2).reverse()).join(" ")}"/>`);
  parts.push(`<polyline class="line" points="${line(1).join(" ")}"/>`);
  const ran = up(model.profiled).toFixed(1);
  parts.push(`<path class="ran" d="M${left} ${ran}H${right}"/>`);
  const x = along(times[rtt]).toFixed(1);
  parts.push(`<path class="here" d="M${x} ${up(points[rtt][0]).toFixed(1)}V${up(points[rtt][2]).toFixed(1)}"/>`);
  parts.push(`<circle class="point" cx="${x}" cy="${up(points[rtt][1]).toFixed(1)}" r="4.5"/>`);
  return parts.join("");
}

function begin() {
  const model = JSON.parse(document.getElementById("model").textContent);
  const sliders = ["rtt", "rate"].map((id) => document.getElementById(id));
  sliders[0].max = model.rtts.length - 1;
  sliders[1].max = model.rates.length - 1;
  const draw = () => {
    const [rtt, rate] = sliders.map((slider) => Number(slider.value));
    const texts = shown(model, rtt, rate);
    for (const [id, text] of Object.entries(texts)) document.getElementById(id).textContent = text;
    for (const slider of sliders) slider.setAttribute("aria-valuetext", texts[slider.id + "-text"]);
    const chart = document.getElementById("curve");
    chart.innerHTML = curve(model, rtt, rate);
    chart.setAttribute("aria-label", `Predicted time by round trip; at ${texts["rtt-text"]}: ${texts.likely}`);
  };
  sliders.forEach((slider, index) => {
    slider.value = model.start[index];
    slider.addEventListener("input", draw);
  });
  document.getElementById("sliders").hidden = false;
  draw();
}

if (typeof document !== "undefined") begin();
