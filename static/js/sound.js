// @ts-check
// A card on felt, a knock for a pass, one clear tone for one's turn. Made here, so that no sample need be loaded.

import { state } from "./store.js";

/** @type {AudioContext | null} */
let audio = null;

/** Browsers let a page sound only after a gesture: call this from one. */
export function wake() {
  if (!state.preferences.sound) return;
  audio ??= new AudioContext();
  if (audio.state === "suspended") void audio.resume();
}

/**
 * @param {number} frequency
 * @param {number} length seconds
 * @param {number} loud
 * @param {OscillatorType} [shape]
 */
function tone(frequency, length, loud, shape = "sine") {
  if (!audio) return;
  const from = audio.currentTime;
  const voice = audio.createOscillator();
  const gain = audio.createGain();
  voice.type = shape;
  voice.frequency.value = frequency;
  gain.gain.setValueAtTime(0, from);
  gain.gain.linearRampToValueAtTime(loud, from + 0.01);
  gain.gain.exponentialRampToValueAtTime(0.0001, from + length);
  voice.connect(gain).connect(audio.destination);
  voice.start(from);
  voice.stop(from + length);
}

/**
 * @param {number} length seconds
 * @param {number} loud
 * @param {number} dull cut-off in hertz
 */
function rustle(length, loud, dull) {
  if (!audio) return;
  const size = Math.floor(audio.sampleRate * length);
  const buffer = audio.createBuffer(1, size, audio.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let i = 0; i < size; i += 1) samples[i] = (Math.random() * 2 - 1) * (1 - i / size) ** 3;
  const source = audio.createBufferSource();
  source.buffer = buffer;
  const filter = audio.createBiquadFilter();
  filter.type = "lowpass";
  filter.frequency.value = dull;
  const gain = audio.createGain();
  gain.gain.value = loud;
  source.connect(filter).connect(gain).connect(audio.destination);
  source.start();
}

const SOUNDS = {
  card: () => rustle(0.09, 0.35, 1800),
  pass: () => {
    rustle(0.05, 0.3, 500);
    tone(140, 0.09, 0.16, "triangle");
  },
  call: () => tone(330, 0.14, 0.07, "triangle"),
  turn: () => {
    tone(660, 0.35, 0.08);
    setTimeout(() => tone(880, 0.4, 0.06), 110);
  },
};

/** @param {keyof typeof SOUNDS} name */
export function play(name) {
  if (!state.preferences.sound) return;
  wake();
  SOUNDS[name]();
}
