//! One simulated patient: a few hidden causes, and forty numbers that follow from them.
//!
//! The causes are age and frailty, metabolism (weight, sugar, fat), inflammation, loss of kidney function, anaemia,
//! and the liver; a diagnosis pushes some of them. Numbers that belong together do so by the formula a laboratory uses
//! (body mass index, Friedewald's LDL, the CKD-EPI filtration rate of 2021), with noise of measurement on top.

use sunprint::math::stream::Stream;

use super::columns::QUANTITIES;

/// A patient's row.
pub struct Patient {
    /// One number for each of [`super::columns::COLUMNS`], not yet rounded or clamped.
    pub values: [f64; QUANTITIES],
    /// The place of the diagnosis in [`super::columns::DIAGNOSES`].
    pub diagnosis: usize,
}

const DIABETES: usize = 1;
const INFECTION: usize = 2;
const KIDNEY_DISEASE: usize = 3;

/// What cannot be seen: causes in units of their spread in the population, 0 for the average person.
struct Causes {
    female: bool,
    age: f64,
    frailty: f64,
    metabolic: f64,
    inflammation: f64,
    /// Filtration rate of the kidneys, mL/min.
    filtration: f64,
    anaemia: f64,
    liver: f64,
    /// Severity of diabetes, 0 without it.
    sugar: f64,
    diagnosis: usize,
}

impl Causes {
    fn draw(dice: &mut Stream) -> Causes {
        let female = dice.unit() < 0.52;
        // Adults only: the few ages below 18 are mirrored at 18.
        let age = (18.0 + (34.0 + 18.0 * dice.normal()).abs()).min(99.0);
        let years = (age - 52.0) / 18.0;
        let frailty = 0.7 * years + 0.7 * dice.normal();
        let metabolic = 0.25 * years + dice.normal();

        // Illness is likelier with age and with the metabolic factor.
        let odds = [
            1.0,
            libm::exp(-1.6 + 1.0 * metabolic + 0.4 * years),
            libm::exp(-1.4 + 0.3 * frailty),
            libm::exp(-2.3 + 0.9 * years + 0.3 * metabolic),
        ];
        let diagnosis = choose(&odds, dice);
        let ill_with = |illness: usize| if diagnosis == illness { 1.0 } else { 0.0 };

        let infection = ill_with(INFECTION) * (2.6 + 0.8 * dice.normal()).max(0.8);
        let inflammation = 0.6 * dice.normal()
            + 0.2 * metabolic
            + 0.2 * frailty
            + infection
            + 0.3 * ill_with(DIABETES)
            + 0.6 * ill_with(KIDNEY_DISEASE);
        let sugar = ill_with(DIABETES) * libm::exp(0.4 * dice.normal());
        let healthy_kidneys = 100.0 - 0.75 * (age - 40.0) + 11.0 * dice.normal() - 4.0 * sugar;
        let damage = 1.0 - ill_with(KIDNEY_DISEASE) * (0.5 + 0.14 * dice.normal()).clamp(0.2, 0.85);
        let filtration = (healthy_kidneys * damage).clamp(8.0, 130.0);
        let anaemia =
            0.8 * dice.normal() + 0.25 * frailty + 0.25 * inflammation.max(0.0) + 1.2 * ill_with(KIDNEY_DISEASE);
        let liver = dice.normal();
        Causes { female, age, frailty, metabolic, inflammation, filtration, anaemia, liver, sugar, diagnosis }
    }

    /// How many times the filtration rate has halved from a healthy 90 mL/min; 0 for healthy kidneys.
    fn kidney_loss(&self) -> f64 {
        libm::log2(90.0 / self.filtration).max(0.0)
    }
}

impl Patient {
    /// Draws a patient.
    pub fn draw(dice: &mut Stream) -> Patient {
        let causes = Causes::draw(dice);
        let body = body(&causes, dice);
        let blood = blood(&causes, dice);
        let inflammation = inflammation(&causes, dice);
        let metabolism = metabolism(&causes, dice);
        let kidneys = kidneys(&causes, dice);
        let liver = liver(&causes, dice);
        let mut values = [0.0; QUANTITIES];
        let parts = body.into_iter().chain(blood).chain(inflammation).chain(metabolism).chain(kidneys).chain(liver);
        for (value, drawn) in values.iter_mut().zip(parts) {
            *value = drawn;
        }
        Patient { values, diagnosis: causes.diagnosis }
    }
}

/// Age, height, weight, body mass index, waist; pressures, heart, breath, temperature, oxygen.
fn body(c: &Causes, dice: &mut Stream) -> [f64; 11] {
    let mut z = || dice.normal();
    let shrinking = 0.06 * (c.age - 40.0).max(0.0);
    let height = if c.female { 164.0 + 6.5 * z() } else { 177.5 + 7.0 * z() } - shrinking;
    let bmi = 26.2 * libm::exp(0.14 * c.metabolic + 0.08 * z());
    let weight = bmi * height * height / 10_000.0;
    let waist = 0.53 * height + 2.2 * (bmi - 25.0) + 0.12 * (c.age - 50.0) + 4.0 * z();
    let fever = (c.inflammation - 0.8).max(0.0);
    let systolic = 122.0 + 0.4 * (c.age - 50.0) + 5.0 * c.metabolic + 7.0 * c.kidney_loss() - 3.0 * fever + 10.0 * z();
    let diastolic = 76.0 + 0.4 * (systolic - 124.0) - 0.15 * (c.age - 52.0) + 2.0 * c.metabolic + 5.5 * z();
    let heart_rate = 71.0 + 2.0 * c.metabolic + 10.0 * fever + 8.5 * z();
    let breaths = 14.5 + 0.5 * c.frailty + 2.2 * fever + 1.6 * z();
    let temperature = 36.6 + 0.62 * fever + 0.22 * z();
    let oxygen = 97.6 - 0.5 * c.frailty - 1.1 * fever + 0.8 * z();
    [c.age, height, weight, bmi, waist, systolic, diastolic, heart_rate, breaths, temperature, oxygen]
}

/// Haemoglobin, haematocrit, red cells, their volume and width; white cells, neutrophils, lymphocytes; platelets,
/// ferritin.
fn blood(c: &Causes, dice: &mut Stream) -> [f64; 10] {
    let mut z = || dice.normal();
    let haemoglobin = if c.female { 137.0 } else { 151.0 } - 9.5 * c.anaemia + 5.0 * z();
    let haematocrit = 0.295 * haemoglobin + 0.9 * z();
    let volume = 90.0 - 1.8 * c.anaemia + 0.05 * (c.age - 50.0) + 3.6 * z();
    let red_cells = 10.0 * haematocrit / volume;
    let width = 13.2 + 0.7 * c.anaemia.max(-1.0) + 0.25 * c.frailty + 0.6 * z();
    let neutrophils = 3.9 * libm::exp(0.30 * c.inflammation + 0.22 * z());
    let lymphocytes = 2.05 * libm::exp(-0.12 * c.inflammation - 0.003 * (c.age - 50.0) + 0.24 * z());
    let white_cells = neutrophils + lymphocytes + 0.75 * libm::exp(0.2 * z());
    let platelets = 248.0 + 22.0 * c.inflammation + 8.0 * c.anaemia + 48.0 * z();
    let iron = if c.female { 70.0 } else { 130.0 };
    let ferritin = iron * libm::exp(0.3 * c.inflammation - 0.25 * c.anaemia + 0.15 * c.metabolic + 0.5 * z());
    [haemoglobin, haematocrit, red_cells, volume, width, white_cells, neutrophils, lymphocytes, platelets, ferritin]
}

/// C-reactive protein and sedimentation rate.
fn inflammation(c: &Causes, dice: &mut Stream) -> [f64; 2] {
    let mut z = || dice.normal();
    let protein = 1.6 * libm::exp(1.05 * c.inflammation + 0.15 * c.metabolic + 0.45 * z());
    let drift = if c.female { 0.3 } else { 0.0 } + 0.012 * (c.age - 50.0);
    let sedimentation = 8.0 * libm::exp(0.42 * c.inflammation + 0.2 * c.anaemia + drift + 0.32 * z());
    [protein, sedimentation]
}

/// Glucose and HbA1c; cholesterol, LDL, HDL, triglycerides; uric acid.
fn metabolism(c: &Causes, dice: &mut Stream) -> [f64; 7] {
    let mut z = || dice.normal();
    let glucose = 5.2 + 0.3 * c.metabolic + 2.7 * c.sugar + (0.35 + 0.7 * c.sugar) * z();
    let hba1c = 5.35 + 0.15 * c.metabolic + 0.006 * (c.age - 50.0) + 1.75 * c.sugar + 0.22 * z();
    let hdl = (if c.female { 1.62 } else { 1.32 } - 0.17 * c.metabolic + 0.22 * z()).max(0.6);
    let triglycerides = 1.25 * libm::exp(0.30 * c.metabolic + 0.12 * c.sugar + 0.32 * z());
    // Diabetics are treated with statins.
    let ldl = (3.1 + 0.2 * c.metabolic - 0.5 * c.sugar.min(1.5) + 0.7 * z()).max(0.8);
    // Friedewald's formula, turned round.
    let cholesterol = ldl + hdl + triglycerides / 2.2 + 0.08 * z();
    let sex = if c.female { 275.0 } else { 340.0 };
    let uric_acid = sex + 28.0 * c.metabolic + 48.0 * c.kidney_loss() + 42.0 * z();
    [glucose, hba1c, cholesterol, ldl, hdl, triglycerides, uric_acid]
}

/// Creatinine, filtration rate, urea, potassium, sodium, bicarbonate, calcium.
fn kidneys(c: &Causes, dice: &mut Stream) -> [f64; 7] {
    let mut z = || dice.normal();
    let loss = c.kidney_loss();
    let creatinine = creatinine_for(c.filtration, c.age, c.female) * libm::exp(0.06 * z());
    let filtration = filtration_for(creatinine, c.age, c.female);
    let urea = 5.3 * libm::exp(0.52 * loss + 0.08 * c.frailty + 0.18 * z());
    let potassium = 4.25 + 0.28 * loss + 0.3 * z();
    let sodium = 140.2 - 0.7 * c.inflammation.max(0.0) - 0.5 * c.sugar + 1.9 * z();
    let bicarbonate = 25.8 - 1.5 * loss - 0.5 * c.inflammation.max(0.0) + 1.6 * z();
    let calcium = 2.38 - 0.04 * loss - 0.02 * c.inflammation.max(0.0) - 0.012 * c.frailty + 0.06 * z();
    [creatinine, filtration, urea, potassium, sodium, bicarbonate, calcium]
}

/// ALT, GGT, albumin.
fn liver(c: &Causes, dice: &mut Stream) -> [f64; 3] {
    let mut z = || dice.normal();
    let sex = if c.female { 0.0 } else { 0.22 };
    let alt = 20.0 * libm::exp(sex + 0.2 * c.metabolic + 0.28 * c.liver + 0.25 * z());
    let ggt = 21.0 * libm::exp(sex + 0.24 * c.metabolic + 0.42 * c.liver + 0.1 * c.inflammation + 0.25 * z());
    let albumin = 43.5 - 0.9 * c.frailty - 1.6 * c.inflammation.max(0.0) - 0.9 * c.kidney_loss() + 1.8 * z();
    [alt, ggt, albumin]
}

/// The place of one of the weights, drawn in proportion to them.
fn choose(weights: &[f64], dice: &mut Stream) -> usize {
    let mut rest = dice.unit() * weights.iter().sum::<f64>();
    let found = weights.iter().position(|weight| {
        rest -= weight;
        rest < 0.0
    });
    found.unwrap_or(weights.len() - 1)
}

/// CKD-EPI 2021: filtration rate (mL/min) from creatinine (µmol/L), age and sex.
fn filtration_for(creatinine: f64, age: f64, female: bool) -> f64 {
    let (knee, slope, level) = ckd_epi(age, female);
    let ratio = creatinine / knee;
    level * libm::pow(ratio.min(1.0), -slope) * libm::pow(ratio.max(1.0), -1.2)
}

/// The same formula, solved for creatinine.
fn creatinine_for(filtration: f64, age: f64, female: bool) -> f64 {
    let (knee, slope, level) = ckd_epi(age, female);
    let ratio = level / filtration;
    knee * if ratio > 1.0 { libm::pow(ratio, 1.0 / 1.2) } else { libm::pow(ratio, 1.0 / slope) }
}

/// The formula's knee (µmol/L), the slope below the knee and the rate at the knee.
fn ckd_epi(age: f64, female: bool) -> (f64, f64, f64) {
    let level = 142.0 * libm::pow(0.9938, age);
    if female { (0.7 * 88.4, 0.241, 1.012 * level) } else { (0.9 * 88.4, 0.302, level) }
}

#[cfg(test)]
mod tests {
    use super::{creatinine_for, filtration_for};

    #[test]
    fn filtration_and_creatinine_are_inverse() {
        for filtration in [10.0, 45.0, 89.0, 90.0, 120.0] {
            for female in [false, true] {
                let back = filtration_for(creatinine_for(filtration, 60.0, female), 60.0, female);
                assert!((back - filtration).abs() < 1e-9, "{filtration} came back as {back}");
            }
        }
    }

    #[test]
    fn filtration_agrees_with_a_worked_example() {
        // A man of 50 with creatinine at the knee: 142 * 0.9938^50 = 104.05.
        assert!((filtration_for(79.56, 50.0, false) - 104.05).abs() < 0.01);
    }
}
